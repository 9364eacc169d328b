"""Keeps added items from invalidating the labels of existing requests."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from ctrag.text.words import terms
from stores.people.app_spec import packaged_apps
from stores.people.items import Item
from synth.provider import LabelledRequest

_SPECS = {app.name: app for app in packaged_apps()}
_NEAR = timedelta(hours=4)
_GROUP_APIS = {
    "play_playlist": "playlist_name",
    "play_artist": "artist",
    "play_genre": "genre",
    "play_album": "album_title",
    "list_notes": "folder",
    "list_reminders": "list",
    "search_mail": "sender",
    "get_call_history": "contact",
}
"""APIs that apply to every item of a group, and the argument that names the group."""


class Guard:
    """Decides which items can be added without changing the labels of the given requests."""

    def __init__(self, items: Sequence[Item], requests: Sequence[LabelledRequest]) -> None:
        self._apis = {one.labels.plan.api for one in requests if one.labels.plan}
        self._groups = {
            (one.labels.plan.api, str(one.labels.plan.arguments.get(argument, "")).casefold())
            for one in requests
            if one.labels.plan and (argument := _GROUP_APIS.get(one.labels.plan.api))
        }
        self._days = {
            str(one.labels.plan.arguments["date"])
            for one in requests
            if one.labels.plan and one.labels.plan.api == "list_events"
        }
        wanted = {item_id for one in requests for item_id in one.labels.relevant or ()}
        self._wanted = [_title_terms(one) for one in items if one.id in wanted]
        self._titles = {(one.app, _title(one).casefold()) for one in items}
        self._asked = [one.request.asked_at for one in requests]
        self._planned = [_moment(one) for one in items if one.app == "calendar"]
        past = [_moment(one) for one in items if one.app == "phonecall"]
        self._first_call = min((one for one in past if one), default=datetime.max)
        since = [
            datetime.fromisoformat(str(one.labels.plan.arguments["since"]))
            for one in requests
            if one.labels.plan
            and one.labels.plan.api == "get_recently_played"
            and "since" in one.labels.plan.arguments
        ]
        songs = [_moment(one) for one in items if one.app == "music" and one.id in wanted]
        if "get_recently_played" in self._apis:
            since += [one for one in songs if one]
        self._before_songs = min(since, default=datetime.max)

    def allows(self, item: Item) -> bool:
        """Whether the item may be added."""
        if (item.app, _title(item).casefold()) in self._titles and item.app != "phonecall":
            return False
        own = _title_terms(item)
        if any(len(own & other) >= min(2, len(other)) for other in self._wanted if other):
            return False
        return not self._in_group(item) and self._time_is_free(item)

    def add(self, item: Item) -> None:
        """Register an added item: no other may have its title or its hour."""
        self._titles.add((item.app, _title(item).casefold()))
        if item.app == "calendar":
            self._planned.append(_moment(item))

    def _in_group(self, item: Item) -> bool:
        groups = {
            "music": [
                ("play_playlist", "playlist"),
                ("play_artist", "artist"),
                ("play_genre", "genre"),
                ("play_album", "album_title"),
            ],
            "notes": [("list_notes", "folder")],
            "reminders": [("list_reminders", "list")],
            "mail": [("search_mail", "sender")],
            "phonecall": [("get_call_history", "contact")],
        }.get(item.app, [])
        for api, field in groups:
            value = item.text(field).casefold()
            if (api, value) in self._groups or (value and (api, "") in self._groups):
                return not (item.app == "reminders" and item.flag("done"))
        if item.app == "mail":
            return item.flag("unread") and "read_unread_mail" in self._apis
        return False

    def _time_is_free(self, item: Item) -> bool:
        moment = _moment(item)
        if moment is None:
            return True
        if item.app == "calendar":
            free = all(one is None or abs(moment - one) > _NEAR / 2 for one in self._planned)
            return free and moment.date().isoformat() not in self._days and self._is_quiet(moment)
        if item.app == "reminders":
            return self._is_quiet(moment)
        if item.app == "phonecall":
            return moment < self._first_call - _NEAR
        if item.app == "music":
            return moment < self._before_songs
        return True

    def _is_quiet(self, moment: datetime) -> bool:
        """Whether no request is made around that time, which could mean "the next thing"."""
        return all(abs(moment - one) > _NEAR for one in self._asked)


def _title(item: Item) -> str:
    names = _SPECS[item.app].named("title") or _SPECS[item.app].named("person")
    return item.text(names[0])


def _title_terms(item: Item) -> set[str]:
    return set() if item.app in ("phonecall", "music") else set(terms(_title(item)))


def _moment(item: Item) -> datetime | None:
    return item.time(_SPECS[item.app].named("time")[0])
