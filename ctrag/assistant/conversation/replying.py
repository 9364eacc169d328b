"""Follow-ups that answer a mail that was read, or give somebody a note or a mail."""

import re

from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.conversation.phrases import best_named
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.assistant.conversation.telling import OTHERS, OWN_WORDS, somebody
from ctrag.text.words import telling_words

_REPLIES = re.compile(
    r"(?:(?:answer|reply|respond|write back|say|tell)(?: back)?(?: with)?)[\s,:]+(?P<what>.+)", re.I
)

_GIVES = re.compile(
    r"(?:send|mail|email|text|give|forward|show)\s+(?P<whom>him|her|them|[^\W\d_][\w'’-]*"
    r"(?: (?-i:[A-ZÀ-Ý])[\w'’-]*)?)\s+(?P<what>(?:the|my|that|our)\s+[\w'’ -]+?)(?: too| as well)?",
    re.I,
)


def replied(scene: Scene) -> Reading | None:
    """ "reply yes", "answer that it's free": to the mail that was read."""
    found = _REPLIES.fullmatch(scene.core.rstrip(" ."))
    mails = scene.state.items(scene.view, "mail")
    if found is None or scene.last.app != "mail" or not mails:
        return None
    what = found["what"]
    own = OWN_WORDS.fullmatch(what)
    if re.match(r"(?:tell|answer)\b(?!:)", scene.core, re.I) and own is None:
        return None
    if own is None or OTHERS.search(own["text"]):
        text = scene.core
        values = {"subject": title_of(mails[0])}
        return scene.call_with("reply_to_mail", mails[0], text, **values)
    body = re.sub(r"\bi\b", "I", own["text"].rstrip(" ."))
    body = f"{body[:1].upper()}{body[1:]}."
    return scene.call("reply_to_mail", mails[0], subject=title_of(mails[0]), body=body)


def given(scene: Scene) -> Reading | None:
    """ "send him the tide table": a note or a mail of the person's."""
    found = _GIVES.fullmatch(scene.core.rstrip(" .!"))
    if found is None:
        return None
    whom = somebody(scene, found["whom"], "")
    named = telling_words(found["what"])
    item = best_named(named, scene.own("notes", "mail"), 0.75) if named else None
    if whom is None or item is None:
        return None
    if item.app == "notes":
        return scene.call("share_note", item, title=title_of(item), contact=whom)
    return scene.call("forward_mail", item, subject=title_of(item), to=whom)
