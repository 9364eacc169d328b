"""The applications' APIs and the execution of plans.

- `call`: `Call`, the input of an API; `Effect`, its answer and change; `Refusal`.
- `lookup`: finding what an argument names (items, contacts, callers), and words for answers.
- `music`, `google`, `notes`, `mail`, `phonecall`, `calendar`, `reminders`: one pure function
  `Call -> Effect` for each API of that application.
- `own`: APIs of further applications, which are declared and have no code.
- `registry`: all of them by name (`APIS`).
- `execute`: checks a plan, asks before it reaches anybody, applies the change to the stores.

An API reads its arguments and the person's items and nothing else. What items say is data: it
is shown and matched, never followed.
"""
