"""Follow-ups that ask more about what was talked about: "who's coming", "when is it due"."""

import re

from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.conversation.reading import READ_BY, Reading, Scene

_IT = r"(?:it|that|this|that one|this one)"
_EVENT = (
    rf"(?:where (?:is|was|'s)? ?{_IT}(?: again| exactly| at)?|where'?s {_IT}(?: again| exactly"
    rf"| at)?"
    r"|where(?:'s| is) (?:this|that) \w+|who(?:'s| is) in there(?: with us| w us)?|where exactly"
    r"|where(?: is that)? again|(?:in )?which room(?: (?:is|was) (?:it|that))?(?: in)?"
    rf"|(?:who(?:'s| is| else is| else's)?|who all is) (?:coming|going|in|there|attending"
    rf"|joining|invited)"
    r"(?: to (?:it|that))?|who else(?: (?:will be|is|was) (?:there|coming|going))?"
    rf"|(?:when|what time)(?:'s| is| was| does| do| did)? (?:{_IT}|we|i)(?: (?:start|end"
    rf"|finish|begin|on"
    r"|again|exactly|over))*|how long (?:is|does|will) (?:it|that)(?: take| last| be)?"
    r"|until when(?: is (?:it|that))?|till when|what day (?:is|was) (?:it|that))"
)
_REMINDER = (
    rf"(?:when(?:'s| is| was)? {_IT}(?: due)?(?: again)?|what time (?:is|was) {_IT}(?: for| at"
    rf"| due)?"
    r"|what list is (?:it|that) on|which list)"
)
_AGAIN = (
    rf"(?:(?:read|open|show|tell)(?: me)?|what does|what did) {_IT}(?: say)?"
    r"(?: again| out| once more)*"
)
_ASKS = {
    "calendar": re.compile(_EVENT, re.I),
    "reminders": re.compile(_REMINDER, re.I),
    "notes": re.compile(_AGAIN, re.I),
    "mail": re.compile(_AGAIN, re.I),
}


def asked_more(scene: Scene) -> Reading | None:
    """Reads the event, reminder, note or mail that the last turn was about."""
    core = re.sub(r",\s+the\s.*$", "", scene.core.rstrip("?!. "))
    app = scene.last.app
    near = scene.state.items(scene.view, app)
    pattern = _ASKS.get(app)
    if pattern is None or not near or not pattern.fullmatch(core):
        return None
    if len(scene.last.items) > 1 and scene.last.plan.api.startswith(("list_", "search_")):
        return None
    api, name = READ_BY[app]
    return scene.call(api, near[0], **{name: title_of(near[0])})
