"""A conversation: requests that lean on what was said before, and requests for several calls.

- `conversation`: `Conversation`, one person's turns in order.
- `state`: what was talked about, shown and done, bounded in size.
- `split`: the requests in one breath, by rules and by `breaks`, a regression that learned where one
  ends; `orders`: the words of requests; `coordinated`: one verb for two things, and what is
  reported done.
- `reports`: what is said to be done beside a request: "rent's paid, cross it off, and call Ida".
- `remarks`: an order without the remark before it, the reason behind it and its object in front;
  `corrections`: what is taken back in the same breath.
- `phrases`: words of follow-ups: openings, pronouns, times; `the_one`: one of what was listed.
- `follow_up`: what a turn means after the ones before it (`Reading`).
- `days`: a bare question for a day; `anchors`: "that evening", "the day before" as dates.
- `changes`: what was talked about moved, removed or passed on; `ticking`: said to be done.
- `telling`: messages and calls to somebody in focus; `references`: whatever else points back.
- `music`, `playlists`, `voicemails`: what plays, what else may, and what callers left.
- `repeats`: the last call with one value changed.
- `news`: what was changed, as it is told to somebody.
- `opened`: one of the things that were listed; `about`: more about the one thing.
- `filing`: put into a note, a folder or the calendar; `replying`: mails answered, things given.
- `web`: what was asked of the web, asked otherwise; `undoing`: the latest turns taken back.
- `reminding`: reminders of what was talked about.
- `questions`: what the assistant asks, and what an answer to it chooses.
- `small_talk`: thanks, greetings, and "what can you do".
- `focus`: what is known of a call before it is planned (`Focus`).
- `preferences`: what corrections taught, kept with the person's data.
"""
