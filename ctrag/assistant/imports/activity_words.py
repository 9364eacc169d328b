"""What Google's activity was about, without the verb in the person's language."""

from functools import cache
from importlib.resources import files
from typing import Literal

import yaml

Done = Literal["watched", "visited", "searched"]
_QUOTES = '\u201e\u201c\u201d"«»「」『』 '


def object_of(title: str, done: Done) -> str | None:
    """The object of `Watched Wharf` or `„Wharf“ angesehen`; None where no such verb is known."""
    title = " ".join(title.split())
    for before, after in _forms(done):
        found = title[len(before) : len(title) - len(after)].strip(_QUOTES)
        if found and title.startswith(before) and title.endswith(after):
            return found
    return None


@cache
def _forms(done: Done) -> list[tuple[str, str]]:
    """What stands before and behind the object, the longest first."""
    text = files("ctrag.assistant.imports").joinpath("activity_words.yaml").read_text("utf-8")
    forms = [
        (one[0], one[2]) for said in yaml.safe_load(text)[done] if (one := said.partition("{}"))
    ]
    return sorted(forms, key=lambda one: -len("".join(one)))
