"""A conversation: requests that lean on what was said before, and requests for several calls.

- `conversation`: `Conversation`, one person's turns in order.
- `state`: what was talked about, shown and done, bounded in size.
- `split`: the requests in one breath.
- `phrases`: words of follow-ups: openings, pronouns, ordinals, times.
- `follow_up`: what a turn means after the ones before it (`Reading`).
- `news`: what was changed, as it is told to somebody.
- `opened`: one of the things that were listed.
- `reminding`: reminders of what was talked about.
- `questions`: what the assistant asks, and what an answer to it chooses.
- `small_talk`: thanks, greetings, and "what can you do".
- `focus`: what is known of a call before it is planned (`Focus`).
- `preferences`: what corrections taught, kept with the person's data.
"""
