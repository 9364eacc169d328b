"""What goes with a labelled call: two other fitting APIs, and other calls that are as right."""

from collections.abc import Mapping, Sequence

from stores.people.items import Item, LabelledPlan

Arguments = Mapping[str, str | int | list[str]]

_BESIDE = {
    "get_event": "list_events search_events",
    "list_events": "search_events get_event",
    "search_events": "get_event list_events",
    "create_event": "create_reminder list_events",
    "reschedule_event": "get_event notify_attendees",
    "cancel_event": "reschedule_event notify_attendees",
    "notify_attendees": "send_mail reschedule_event",
    "read_mail": "search_mail read_unread_mail",
    "search_mail": "read_mail read_unread_mail",
    "read_unread_mail": "search_mail read_mail",
    "reply_to_mail": "send_mail read_mail",
    "send_mail": "reply_to_mail notify_attendees",
    "forward_mail": "reply_to_mail send_mail",
    "flag_mail": "read_mail create_reminder",
    "delete_mail": "flag_mail search_mail",
    "read_note": "search_notes list_notes",
    "search_notes": "read_note list_notes",
    "list_notes": "search_notes read_note",
    "create_note": "append_to_note create_reminder",
    "append_to_note": "update_note create_note",
    "share_note": "send_mail read_note",
    "move_note": "list_notes update_note",
    "delete_note": "update_note move_note",
    "read_reminder": "list_reminders get_event",
    "list_reminders": "read_reminder search_notes",
    "create_reminder": "create_event create_note",
    "complete_reminder": "delete_reminder list_reminders",
    "snooze_reminder": "create_reminder complete_reminder",
    "delete_reminder": "complete_reminder snooze_reminder",
    "call_contact": "return_missed_call get_call_history",
    "return_missed_call": "call_contact get_missed_calls",
    "get_missed_calls": "get_call_history play_voicemail",
    "get_call_history": "get_missed_calls call_contact",
    "play_voicemail": "get_missed_calls return_missed_call",
    "block_caller": "get_missed_calls get_call_history",
    "call_number": "call_contact redial_last_call",
    "redial_last_call": "call_contact return_missed_call",
    "play_song": "play_artist search_music",
    "play_album": "play_artist search_music",
    "play_artist": "search_music play_genre",
    "play_playlist": "play_genre play_artist",
    "play_genre": "play_playlist search_music",
    "pause_music": "skip_song get_current_song",
    "skip_song": "pause_music get_current_song",
    "get_current_song": "get_recently_played search_music",
    "get_recently_played": "get_current_song search_music",
    "add_song_to_playlist": "play_song play_playlist",
    "search_music": "play_artist play_genre",
    "google_search": "google_news get_search_history",
    "google_image_search": "google_search google_shopping",
    "google_news": "google_search get_search_history",
    "google_directions": "google_nearby google_search",
    "google_nearby": "google_directions google_search",
    "google_translate": "google_search create_note",
    "google_weather": "google_search google_news",
    "google_flights": "google_search google_shopping",
    "google_shopping": "google_search google_nearby",
    "get_search_history": "google_search search_notes",
}


def tools_for(api: str) -> tuple[str, ...]:
    """The API and the two next best."""
    return (api, *_BESIDE.get(api, "").split())


def also_right(api: str, arguments: Arguments, items: Sequence[Item]) -> tuple[LabelledPlan, ...]:
    """Other calls that a reasonable person would accept as well.

    Args:
        api: The labelled API.
        arguments: Its arguments.
        items: The relevant items.
    """
    item = items[0] if items else None
    found: list[LabelledPlan] = []

    def add(other: str, **values: str) -> None:
        found.append(LabelledPlan(other, values))

    match api:
        case "get_event" if item and (start := item.time("start")):
            add("list_events", date=f"{start:%Y-%m-%d}")
            add("search_events", query=item.text("title"))
        case "search_events" if item:
            add("get_event", title=item.text("title"))
        case "read_mail" if item:
            add("search_mail", query=item.text("subject"))
        case "read_note" if item:
            add("search_notes", query=item.text("title"))
        case "read_reminder" if item:
            add("list_reminders", list=item.text("list"))
            add("list_reminders")
        case "list_reminders" if "list" in arguments:
            add("list_reminders")
        case "return_missed_call":
            add("call_contact", contact=str(arguments["contact"]))
        case "reply_to_mail" if item:
            add("send_mail", to=item.text("sender"), subject=item.text("subject"),
                body=str(arguments["body"]))  # fmt: skip
        case "play_voicemail":
            add("get_missed_calls")
        case "create_reminder" if "due" in arguments:
            add("create_event", title=str(arguments["title"]), start=str(arguments["due"]))
        case "create_event":
            add("create_reminder", title=str(arguments["title"]), due=str(arguments["start"]))
        case "google_translate":
            add("google_search", query=f"{arguments['text']} in {arguments['target_language']}")
        case "google_news":
            add("google_search", query=str(arguments["topic"]))
        case "google_shopping":
            add("google_search", query=f"{arguments['product']} price")
        case "google_image_search":
            add("google_search", query=str(arguments["query"]))
        case "play_genre":
            add("search_music", query=str(arguments["genre"]))
        case "play_artist":
            add("search_music", query=str(arguments["artist"]))
        case "google_directions" if "mode" in arguments:
            add("google_directions", destination=str(arguments["destination"]))
    return tuple(found)
