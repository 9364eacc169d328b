"""Follow-ups that want one of the things that were listed: "read the second one"."""

import re

from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.conversation.reading import READ_BY, Reading, Scene

_OPENS = re.compile(
    r"(?:read|open|show|see|view|tell me (?:more )?about|let me see|what(?:'s| is| was"
    r"| about)(?: in| on)?"
    r"|what does|how about)?(?:\s+(?:me|out|up))*\s*$",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    r"\s*(?:say|says|out|aloud|to me|for me|in full|again|too|as well|about|please)*", re.IGNORECASE
)


def opened(scene: Scene) -> Reading | None:
    """ "read the second one", "and the last one?" after a list."""
    core = scene.core.rstrip("?!. ")
    placed = scene.placed(core)
    if placed is None or placed[0].app not in READ_BY:
        return None
    item, found = placed
    if not _OPENS.match(core[: found.start()]) or not _CLOSES.fullmatch(core[found.end() :]):
        return None
    if not core[: found.start()].strip() and (scene.last.plan.arguments or scene.said.no):
        return None  # what was done last is done again, to another thing
    api, name = READ_BY[item.app]
    return scene.call(api, item, **{name: title_of(item)})
