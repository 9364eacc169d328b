"""All APIs by name."""

from ctrag.apps import calendar, google, mail, music, notes, phonecall, reminders
from ctrag.apps.call import Api

APIS: dict[str, Api] = {
    api.__name__: api
    for app in (music, google, notes, mail, phonecall, calendar, reminders)
    for api in app.APIS
}
