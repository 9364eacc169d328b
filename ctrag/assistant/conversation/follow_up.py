"""What a turn means after the ones before it.

Each rule looks for one kind of follow-up and returns what it found, or None. A turn that fits no
rule and points back at nothing stands by itself; one that points back is planned with the items,
people and places in focus put where it points.
"""

from collections.abc import Callable
from datetime import datetime

from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.conversation import about, asides, music, repeats, web
from ctrag.assistant.conversation.anchors import anchored
from ctrag.assistant.conversation.changes import passed_on, removed, retimed
from ctrag.assistant.conversation.days import day_asked
from ctrag.assistant.conversation.filing import entered, put_in, put_into
from ctrag.assistant.conversation.focus import Focus
from ctrag.assistant.conversation.opened import opened
from ctrag.assistant.conversation.phrases import said
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.assistant.conversation.references import pointed
from ctrag.assistant.conversation.reminding import another, reminded_again, reminded_before
from ctrag.assistant.conversation.replying import given, replied
from ctrag.assistant.conversation.state import State
from ctrag.assistant.conversation.telling import told
from ctrag.assistant.conversation.ticking import reported
from ctrag.assistant.conversation.voicemails import heard as voicemail
from ctrag.assistant.conversation.voicemails import left_by
from ctrag.toolbox import Toolbox
from stores.people.items import Person

RULES: tuple[Callable[[Scene], Reading | None], ...] = (
    asides.undone,
    asides.called_again,
    asides.unlisted,
    opened,
    voicemail,
    music.played,
    about.asked_more,
    web.asked_otherwise,
    web.at_its_time,
    reported,
    removed,
    reminded_before,
    anchored,
    another,
    entered,
    put_in,
    retimed,
    reminded_again,
    passed_on,
    put_into,
    repeats.other_value,
    asides.rejected,
    replied,
    given,
    told,
    pointed,
)
"""In order: the first that finds something decides."""


def read(
    text: str,
    state: State,
    view: PersonView,
    person: Person,
    at: datetime,
    toolbox: Toolbox,
    playing: str | None = None,
) -> Reading:
    """What a turn means.

    Args:
        text: What was said.
        state: The turns before it.
        view: The person's items now.
        person: Whose conversation it is.
        at: When it was said.
        toolbox: The APIs.
        playing: Id of the song that plays.
    """
    heard = said(text, person.contacts)
    day = day_asked(text, at, first=state.last is None)
    if day is not None and toolbox.get(day.api) is not None:
        return Reading(text, Focus(apis=(day.api,), plan=day))
    if (played := left_by(heard.core, view, person)) and toolbox.get(played.api):
        return Reading(text, Focus(apis=(played.api,), plan=played))
    if state.last is None:
        return asides.first_turn(heard) or Reading(text)
    scene = Scene(heard, state, state.last, view, person, at, toolbox, playing)
    return next((found for rule in RULES if (found := rule(scene))), Reading(heard.core))
