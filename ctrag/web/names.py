"""What a page calls applications."""

NAMES = {
    "calendar": "Calendar",
    "mail": "Mail",
    "notes": "Notes",
    "reminders": "Reminders",
    "music": "Music",
    "phonecall": "Calls",
    "google": "Searches",
}


def app_name(app: str) -> str:
    """What an application is called on a page."""
    return NAMES.get(app, app.replace("_", " ").capitalize())
