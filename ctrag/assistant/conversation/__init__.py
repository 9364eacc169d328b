"""A conversation: requests that lean on what was said before, and requests for several calls.

- `conversation`: `Conversation`, one person's turns in order.
- `state`: what was talked about, shown and done, bounded in size.
- `split`: the requests in one breath, by rules and by `breaks`, a regression that learned where one
  ends; `orders`: the words of requests; `coordinated`: one verb for two things, and what is
  reported done.
- `phrases`: words of follow-ups: openings, pronouns, ordinals, times.
- `follow_up`: what a turn means after the ones before it (`Reading`).
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
