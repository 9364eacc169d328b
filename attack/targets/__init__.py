"""What is fuzzed: each parser of files and texts of others, with seeds to begin from.

A target may refuse an input with one of `REFUSALS`; any other exception is a fault.

- `target`: what a target is.
- `own_files`: what a person imports; `tool_files`: catalogues, servers, applications.
- `texts`: requests and plans; `doors`: what servers, browsers and other machines send.
"""

from attack.targets import doors, own_files, texts, tool_files
from attack.targets.target import REFUSALS, Target

__all__ = ["REFUSALS", "TARGETS", "Target"]

TARGETS: dict[str, Target] = {
    **own_files.TARGETS,
    **doors.TARGETS,
    **tool_files.TARGETS,
    **texts.TARGETS,
}
