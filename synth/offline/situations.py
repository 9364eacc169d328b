"""Requests composed from the items on any person's phone.

A situation is found in the items (somebody waits at an event, a reminder is due, a song was heard
last night), and the composer phrases the request.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, time, timedelta

from stores.people.dataset import Kind
from stores.people.items import Item, Labels, Request
from synth.offline.composer import Composer
from synth.offline.life import entries, indirect
from synth.offline.thoughts import thought
from synth.provider import LabelledRequest

_PHRASES = (
    "the bus is late again", "where can I wash my hands", "see you on Sunday", "no sugar, please",
    "my stop is the next one", "thank you for the soup", "is this seat free", "it was my fault",
    "we are out of bread", "good luck tomorrow", "the key is under the mat", "I feel much better",
)  # fmt: skip
_LANGUAGES = (
    "French Spanish Italian German Japanese Polish Turkish Portuguese Swahili Korean".split()
)
_TASKS = (
    "turn the mattress", "wind the clock", "weigh the parcel", "air the cellar", "oil the hinge",
    "measure the shelf", "ask about the deposit", "wash the curtains", "write the thank-you card",
    "look for the receipt", "check the gutters", "freeze the soup", "count the chairs",
)  # fmt: skip
_SHIFTS = {"morning": (6, 11), "afternoon": (12, 17), "evening": (18, 22)}

Way = Callable[[Composer, Kind], Iterator[LabelledRequest]]


def composed(composer: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    """Requests of a kind in random order; none when no situation applies."""
    ways = list(_WAYS.get(kind, ()))
    composer.draw.shuffle(ways)
    for way in ways:
        yield from way(composer, kind)


def _when(moment: datetime, at: datetime) -> tuple[str, datetime, datetime] | None:
    """A phrase for a recent time ("last night"), with the start and end of its span."""
    days = (at.date() - moment.date()).days
    part = next((name for name, (a, b) in _SHIFTS.items() if a <= moment.hour <= b), None)
    if part is None or not 0 <= days <= 5 or (days == 0 and at.hour <= _SHIFTS[part][1]):
        return None
    phrases = {0: f"this {part}", 1: "last night" if part == "evening" else f"yesterday {part}"}
    begin, end = (datetime.combine(moment.date(), time(hour)) for hour in _SHIFTS[part])
    return phrases.get(days, f"on {moment:%A} {part}"), begin, end + timedelta(minutes=59)


def _upcoming(self: Composer) -> Iterator[tuple[Item, datetime]]:
    now = self.persona.person.now
    for event in self.of("calendar"):
        start = event.time("start")
        if start and now + timedelta(hours=1) < start < now + timedelta(days=3):
            yield event, start


def _alone(self: Composer, event: Item, start: datetime) -> bool:
    others = (one.time("start") for one in self.of("calendar") if one.id != event.id)
    return all(one is None or abs(one - start) > timedelta(hours=3) for one in others)


def _late(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    for event, start in _upcoming(self):
        if event.fields.get("attendees") and _alone(self, event, start):
            message = self.draw.choice(
                ("I'm running late, sorry.", "I'll be a little late.", "I'm on my way, a bit late.")
            )
            yield self.made(
                kind, "late", start - timedelta(minutes=self.draw.randint(4, 25)), [event],
                "notify_attendees call_contact reschedule_event",
                {"title": event.text("title"), "message": message}, place="commute",
            )  # fmt: skip


def _way(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    for event, start in _upcoming(self):
        if event.text("location") not in ("", "home") and _alone(self, event, start):
            yield self.made(
                kind, "way", start - timedelta(minutes=self.draw.randint(30, 70)), [event],
                "google_directions get_event google_nearby",
                {"destination": event.text("location")},
            )  # fmt: skip


def _playing(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    ways: list[tuple[str, str, dict[str, str]]] = [
        ("song_name", "get_current_song get_recently_played search_music", {}),
        ("song_skip", "skip_song pause_music get_current_song", {"direction": "next"}),
        ("song_pause", "pause_music skip_song get_current_song", {}),
    ]
    for song in self.of("music")[:2]:
        situation, tools, arguments = self.draw.choice(ways)
        yield self.made(kind, situation, self.soon(), [song], tools, arguments, playing=song.id)


def _snooze(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    now = self.persona.person.now
    open_ones = [one for one in self.of("reminders") if not one.flag("done") and one.time("due")]
    for one in open_ones:
        due = one.time("due")
        near = [other for other in open_ones if abs((other.time("due") or now) - (due or now))
                < timedelta(hours=3)]  # fmt: skip
        if due and now < due < now + timedelta(days=2) and len(near) == 1:
            at = due + timedelta(minutes=self.draw.randint(0, 9))
            until = (at + timedelta(hours=1)).isoformat(timespec="minutes")
            yield self.made(
                kind, "snooze_hour", at, [one], "snooze_reminder read_reminder create_reminder",
                {"title": one.text("title"), "until": until},
            )  # fmt: skip


def _tasks(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    reads = kind == "mismatch"
    for one in self.of("reminders"):
        wording, title = indirect("reminders", one.text("title")), one.text("title")
        if wording is None or one.flag("done"):
            continue
        at, due = self.soon(), one.time("due")
        if reads:
            yield self.made(kind, "read_reminder", at, [one],
                "read_reminder list_reminders complete_reminder", {"title": title},
                w=wording)  # fmt: skip
            continue
        ways = ["complete", "delete_reminder", *(["snooze_day"] if due and due > at else [])]
        way = self.draw.choice(ways)
        arguments = {"title": title}
        if way == "snooze_day" and due:
            arguments["until"] = (due + timedelta(days=1)).isoformat(timespec="minutes")
        tools = {
            "complete": "complete_reminder delete_reminder snooze_reminder",
            "delete_reminder": "delete_reminder complete_reminder snooze_reminder",
            "snooze_day": "snooze_reminder read_reminder create_reminder",
        }[way]
        yield self.made(kind, way, at, [one], tools, arguments, w=wording)


def _events(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    for event in self.of("calendar"):
        wording, start = indirect("events", event.text("title")), event.time("start")
        at = self.soon()
        if wording is None or start is None or start < at + timedelta(hours=1):
            continue
        title = event.text("title")
        choices: list[tuple[str, str, dict[str, str]]] = [
            ("cancel", "cancel_event notify_attendees reschedule_event", {"title": title}),
            ("later", "reschedule_event notify_attendees get_event", {
                "title": title,
                "new_start": (start + timedelta(hours=1)).isoformat(timespec="minutes"),
            }),
        ]  # fmt: skip
        if kind == "mismatch":
            choices = [("get_event", "get_event search_events list_events", {"title": title})]
            if event.text("location") not in ("", "home"):
                choices.append(("route", "google_directions get_event google_nearby",
                                {"destination": event.text("location")}))  # fmt: skip
        elif kind == "multi":
            city = (self.persona.person.profile.city or "").split(",")[0]
            if not city:
                return
            choices = [("weather", "google_weather get_event google_search",
                        {"location": city, "date": start.date().isoformat()})]  # fmt: skip
        way, tools, arguments = self.draw.choice(choices)
        yield self.made(kind, way, at, [event], tools, arguments, w=wording)


def _notes(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    for note in self.of("notes"):
        wording, title = indirect("notes", note.text("title")), note.text("title")
        if wording is None:
            continue
        if kind == "mismatch":
            yield self.made(kind, "read_note", self.soon(), [note],
                "read_note search_notes list_notes", {"title": title}, w=wording)  # fmt: skip
        elif kind == "write":
            yield self.made(kind, "delete_note", self.soon(), [note],
                "delete_note update_note move_note", {"title": title}, w=wording)  # fmt: skip
        elif other := self.other(""):
            yield self.made(kind, "share", self.soon(), [note],
                "share_note read_note send_mail", {"title": title, "contact": other[0]},
                w=wording, rel=other[1])  # fmt: skip


def _company_mail(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    senders = Counter(one.text("sender") for one in self.of("mail"))
    for mail in self.of("mail"):
        wording = indirect("company_mails", mail.text("subject"))
        if wording is None or senders[mail.text("sender")] > 1:
            continue
        subject = {"subject": mail.text("subject")}
        if kind == "mismatch":
            yield self.made(kind, "read_mail", self.soon(), [mail],
                "read_mail search_mail flag_mail", subject, w=wording)  # fmt: skip
        elif kind == "write":
            way, tools = self.draw.choice((
                ("delete_mail", "delete_mail flag_mail read_mail"),
                ("flag_mail", "flag_mail read_mail create_reminder"),
            ))  # fmt: skip
            yield self.made(kind, way, self.soon(), [mail], tools, subject, w=wording)
        elif other := self.other(mail.text("sender")):
            yield self.made(kind, "forward", self.soon(), [mail],
                "forward_mail send_mail read_mail", {**subject, "to": other[0]},
                w=wording, rel=other[1])  # fmt: skip


def _people(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    """What one person, named by relation only, sent, said or arranged."""
    for app, field in (("phonecall", "contact"), ("mail", "sender")):
        seen = Counter(one.text(field) for one in self.of(app))
        for one in self.of(app):
            name = one.text(field)
            relation = self.related(name)
            if relation is None or seen[name] > 1:
                continue
            if app == "mail":
                subject = {"subject": one.text("subject")}
                other = self.other(name)
                if other and self.draw.random() < 0.5:
                    yield self.made(kind, "rel_forward", self.soon(), [one],
                        "forward_mail read_mail send_mail", {**subject, "to": other[0]},
                        rel=relation, rel2=other[1])  # fmt: skip
                else:
                    yield self.made(kind, "rel_mail", self.soon(), [one],
                        "read_mail search_mail reply_to_mail", subject, rel=relation)  # fmt: skip
            elif one.text("voicemail") and self.draw.random() < 0.6:
                yield self.made(kind, "voicemail", self.soon(), [one],
                    "play_voicemail return_missed_call call_contact", {"contact": name},
                    rel=relation)  # fmt: skip
            elif one.text("direction") == "missed":
                yield self.made(kind, "missed", self.soon(), [one],
                    "return_missed_call call_contact get_missed_calls", {"contact": name},
                    rel=relation)  # fmt: skip


def _meetings(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    now = self.persona.person.now
    ahead = [one for one in self.of("calendar") if (one.time("start") or now) > now]
    seen = Counter(name for one in ahead for name in _attendees(one))
    for event in ahead:
        names, start = _attendees(event), event.time("start")
        relation = self.related(names[0]) if len(names) == 1 else None
        if relation is None or start is None or seen[names[0]] > 1:
            continue
        at = min(self.soon(), start - timedelta(minutes=40))
        if at < now:
            continue
        arguments = {"title": event.text("title")}
        way, tools = "rel_event", "get_event search_events list_events"
        if kind == "write":
            way, tools = self.draw.choice((
                ("rel_cancel", "cancel_event notify_attendees reschedule_event"),
                ("rel_later", "reschedule_event notify_attendees get_event"),
            ))  # fmt: skip
        if way == "rel_later":
            arguments["new_start"] = (start + timedelta(hours=1)).isoformat(timespec="minutes")
        yield self.made(kind, way, at, [event], tools, arguments, rel=relation)


def _habits(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    for one in (*self.of("music"), *self.of("google")):
        hours, now = one.usage.usual_hours, self.persona.person.now
        if one.usage.opens_30d < 5 or not hours:
            continue
        day = now + timedelta(days=self.draw.randint(1, 2))
        at = day.replace(hour=hours[0], minute=self.draw.randint(0, 59))
        place = one.usage.usual_place
        if one.app == "google":
            yield self.made(kind, "habit_search", at, [one],
                "google_search get_search_history google_news", {"query": one.text("query")},
                place=place)  # fmt: skip
            continue
        playlist = one.text("playlist")
        way, value = ("playlist", playlist) if playlist else ("artist", one.text("artist"))
        songs = [song for song in self.of("music") if song.text(way) == value]
        argument = "playlist_name" if playlist else "artist"
        second = "play_artist" if playlist else "play_genre"
        yield self.made(kind, f"habit_{way}", at, songs, f"play_{way} {second} play_song",
                        {argument: value}, place=place)  # fmt: skip


def _searched(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    for one in self.of("google"):
        searched, at = one.time("searched_at"), self.soon()
        span = _when(searched, at) if searched else None
        if span is None:
            continue
        same = [other for other in self.of("google")
                if span[1] <= (other.time("searched_at") or at) <= span[2]]  # fmt: skip
        if len(same) > 1:
            continue
        query = one.text("query")
        way, tools, name = self.draw.choice((
            ("history", "get_search_history google_search search_notes", "query"),
            ("again", "google_search get_search_history google_news", "query"),
            ("shop", "google_shopping get_search_history google_search", "product"),
        ))  # fmt: skip
        yield self.made(kind, way, at, [one], tools, {name: query}, when=span[0])


def _heard(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    for one in self.of("music"):
        played, at = one.time("played_at"), self.soon()
        span = _when(played, at) if played else None
        if span is None:
            continue
        since = [song for song in self.of("music") if (song.time("played_at") or at) >= span[1]]
        heard = [song for song in since if (song.time("played_at") or at) <= span[2]]
        if len(heard) == len(since):
            yield self.made(kind, "played", at, heard,
                "get_recently_played search_music get_current_song",
                {"since": span[1].isoformat(timespec="minutes")}, when=span[0])  # fmt: skip


def _explicit(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    at = self.soon()
    tomorrow = (at + timedelta(days=1)).date()
    hour = self.draw.randint(7, 20)
    task, phrase = self.draw.choice(_TASKS), self.draw.choice(_PHRASES)
    language = self.draw.choice(_LANGUAGES)
    city = (self.persona.person.profile.city or "").split(",")[0]
    due = datetime.combine(tomorrow, time(hour)).isoformat(timespec="minutes")
    options = [
        self.made(kind, "remind_me", at, [], "create_reminder create_event create_note",
                  {"title": task, "due": due}, hour=_clock(hour), text=task),
        self.made(kind, "translate", at, [], "google_translate google_search create_note",
                  {"text": phrase, "target_language": language}, text=phrase, language=language),
    ]  # fmt: skip
    if city:
        options.append(
            self.made(kind, "weather_city", at, [], "google_weather google_search google_news",
                      {"location": city, "date": tomorrow.isoformat()}, city=city)
        )  # fmt: skip
    query = self.draw.choice(entries("searches")).parts[0]
    if "{" not in query:
        options.append(self.made(kind, "search", at, [],
            "google_search google_news google_shopping", {"query": query}, text=query))  # fmt: skip
    if self.persona.person.contacts:
        name = self.draw.choice(self.persona.person.contacts).name
        options.append(self.made(kind, "call", at, [],
            "call_contact get_call_history send_mail", {"contact": name}, name=name))  # fmt: skip
    day = at + timedelta(days=self.draw.randint(2, 5))
    events = [one for one in self.of("calendar")
              if (one.time("start") or at).date() == day.date()]  # fmt: skip
    options.append(self.made(kind, "day", at, events, "list_events search_events get_event",
                             {"date": day.date().isoformat()}, weekday=f"{day:%A}"))  # fmt: skip
    unread = [one for one in self.of("mail") if one.flag("unread")]
    options.append(self.made(kind, "unread", at, unread,
        "read_unread_mail search_mail read_mail", {}))  # fmt: skip
    missed = [one for one in self.of("phonecall") if one.text("direction") == "missed"]
    options.append(self.made(kind, "missed_all", at, missed,
        "get_missed_calls return_missed_call get_call_history", {}))  # fmt: skip
    self.draw.shuffle(options)
    yield from options


def _beyond(self: Composer, kind: Kind) -> Iterator[LabelledRequest]:
    lines = [one.parts[0] for one in entries("no_tool")]
    self.draw.shuffle(lines)
    person, at = self.persona.person, self.soon()
    for line in lines:
        labels = Labels(
            kind=kind,
            chain_of_thought=thought((), person, at, None, self.draw),
            relevant=(),
            tools=(),
        )
        yield LabelledRequest(Request(line, at, "home"), labels)


def _attendees(event: Item) -> tuple[str, ...]:
    names = event.fields.get("attendees")
    return names if isinstance(names, tuple) else ()


def _clock(hour: int) -> str:
    return f"{hour if hour <= 12 else hour - 12} {'am' if hour < 12 else 'pm'}"


_WAYS: dict[Kind, tuple[Way, ...]] = {
    "now": (_late, _way, _playing, _snooze),
    "reference": (_people, _meetings, _company_mail, _notes),
    "habit": (_habits,),
    "mismatch": (_tasks, _events, _notes, _company_mail),
    "write": (_tasks, _events, _meetings, _company_mail, _notes),
    "multi": (_events,),
    "refind": (_searched, _heard),
    "explicit": (_explicit,),
    "no_tool": (_beyond,),
}
