"""What recorded sessions are worth: `ctrag eval learning` and `ctrag eval prior`.

- `twins`: tasks that are worded alike, which are kept on one side of a split.
- `replay`: an agent from a script, searching and calling through a real session.
- `run`: searches a task and the first tool, before and after so many recorded sessions.
- `weights`: what the request and the next-tool model count for in prompts, chosen on half.
"""
