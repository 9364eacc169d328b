"""All APIs by name, and the states that they need."""

from collections.abc import Mapping

from ctrag.assistant.apps import (
    calendar,
    google,
    mail,
    music,
    notes,
    phonecall,
    reminders,
    repeating,
)
from ctrag.assistant.apps.call import Api

APIS: dict[str, Api] = {
    api.__name__: api
    for app in (music, google, notes, mail, phonecall, calendar, reminders)
    for api in app.APIS
}

STATES: Mapping[str, tuple[str, ...]] = {**phonecall.STATES, **repeating.STATES}
"""API → names of the application's state values, besides its items, that it reads."""
