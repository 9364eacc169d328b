"""The text of HTML as its reader sees it: nothing hidden, links where they say something."""

import re
from typing import Any
from urllib.parse import urlsplit

from ctrag.assistant.imports.mail.charset import clean

LONGEST = 1_000_000
"""Characters of HTML that are read of one mail; most have a hundredth of it."""
_DEEPEST = 250
_LONGEST_SHEET = 50_000
_SHOWN_LINK = 120
"""Characters of the longest address that is kept; longer ones are for machines."""
_NEVER_SHOWN = {"script", "style", "head", "title", "template", "noscript", "object", "svg", "math"}
_NEVER_SHOWN |= {"iframe", "audio", "video", "canvas", "select", "meta", "link"}
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all"
    r"|(?<![\w-])opacity\s*:\s*0?\.?0+\s*(?:;|!|$)"
    r"|(?<![\w-])font-size\s*:\s*0(?:\.0+)?(?:px|pt|em|rem|%)?\s*(?:;|!|$)"
    r"|(?<![\w-])max-height\s*:\s*0(?:px)?\s*(?:;|!|$)"
    r"|text-indent\s*:\s*-\d{3,}|(?<![\w-])left\s*:\s*-\d{4,}",
    re.IGNORECASE,
)
_AT_RULE = re.compile(r"@[^{}@]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_CLASS = re.compile(r"\s*(?:\w+)?([.#][\w-]+)\s*")
_ENCODING = re.compile(r"<\?xml[^>]*\?>", re.IGNORECASE)
_NOT_SEEN = re.compile("[\u034f\u061c\u115f\u17b4\u180e\u200b\u200c\u200e\u200f\u2060\ufeff\u00ad]")
_SPACES = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u3000]+")
_EMPTY_LINES = re.compile(r"\n{3,}")
_TAG = re.compile(r"<[^<>]*>")


def html_text(html: str) -> str:
    """The text that a reader of the page sees; "" where there is none."""
    from inscriptis import Inscriptis
    from inscriptis.css_profiles import RELAXED_CSS_PROFILE
    from inscriptis.model.config import ParserConfig

    root = _tree(html[:LONGEST])
    if root is None:
        return ""
    _without_hidden(root)
    for link in root.iter("a"):
        _keep_link(link)
    config = ParserConfig(css=RELAXED_CSS_PROFILE, display_images=False)
    try:
        text = Inscriptis(root, config).get_text()
    except (RecursionError, ValueError, IndexError, KeyError, TypeError, AttributeError):
        text = "\n".join(root.itertext())  # tables and lists that nobody can draw
    text = tidy(text)
    return text or tidy("\n".join(_pictures(root)))


def tidy(text: str) -> str:
    """The text without invisible signs, outer spaces and runs of empty lines."""
    text = _NOT_SEEN.sub("", clean(text.replace("\r\n", "\n").replace("\r", "\n")))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip()


def _tree(html: str) -> Any:
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    plain = clean(_ENCODING.sub("", html))
    if not plain.strip():
        return None
    parser = HTMLParser(remove_comments=True, remove_pis=True, huge_tree=False)
    try:
        root = document_fromstring(plain, parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        root = None
    if root is None or _lost(root, plain):
        # Nested deeper than the parser goes: the words, without their layout.
        words = re.sub(r"(?is)<(script|style|head|title)\b.*?(?:</\1\s*>|$)", " ", plain)
        root = document_fromstring("<pre></pre>")
        root.find(".//pre").text = _unescaped(_TAG.sub("\n", words))
    return root


def _lost(root: Any, html: str) -> bool:
    """Whether the parser gave up half way: the page nests deeper than it goes."""
    from lxml import etree

    if html.count("<") < _DEEPEST:
        return False
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth >= _DEEPEST:
            return True
    return False


def _unescaped(text: str) -> str:
    from html import unescape

    return unescape(text)


def _without_hidden(root: Any) -> None:
    hidden_names = _hidden_names(root)
    for node in list(root.iter()):
        shown = isinstance(node.tag, str) and node.tag not in _NEVER_SHOWN
        if shown and not _is_hidden(node, hidden_names):
            continue
        if node.getparent() is not None and node.tag not in ("html", "body"):
            node.drop_tree()


def _hidden_names(root: Any) -> set[str]:
    """Classes and ids that the page's own style sheets hide on every screen."""
    names: set[str] = set()
    for style in root.iter("style"):
        sheet = _AT_RULE.sub("", (style.text or "")[:_LONGEST_SHEET])
        for rule in sheet.split("}"):
            selectors, _, body = rule.rpartition("{")
            if _HIDING.search(body):
                found = (_CLASS.fullmatch(one) for one in selectors.split(","))
                names.update(one[1] for one in found if one)
    return names


def _is_hidden(node: Any, names: set[str]) -> bool:
    if node.get("hidden") is not None or _HIDING.search(node.get("style") or ""):
        return True
    if node.tag == "input" and node.get("type") == "hidden":
        return True
    return bool(names) and (
        f"#{node.get('id')}" in names
        or any(f".{one}" in names for one in (node.get("class") or "").split())
    )


def _keep_link(link: Any) -> None:
    """Put the address behind the words of a link, where a person could use it."""
    words = " ".join(link.text_content().split())
    address = (link.get("href") or "").strip()
    if address.casefold().startswith(("mailto:", "tel:")):
        address = address.partition(":")[2].partition("?")[0]
    elif address.casefold().startswith(("http://", "https://")):
        address = _without_query(address)
    else:
        return
    said = re.sub(r"^https?://(?:www\.)?|/$", "", address, flags=re.IGNORECASE)
    if (
        not words
        or not address
        or len(address) > _SHOWN_LINK
        or said.casefold() in words.casefold()
    ):
        return
    last = link[-1] if len(link) else None
    if last is None:
        link.text = f"{link.text or ''} <{address}>"
    else:
        last.tail = f"{(last.tail or '').rstrip()} <{address}>"


def _without_query(address: str) -> str:
    """The address without what only counts who clicked."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    kept = "&".join(
        one
        for one in parts.query.split("&")
        if one and not re.match(r"utm_|mc_|fbclid|gclid|_hs|trk|elq", one, re.IGNORECASE)
    )
    short = parts._replace(query=kept)
    whole = short.geturl()
    return whole if len(whole) <= _SHOWN_LINK else short._replace(query="", fragment="").geturl()


def _pictures(root: Any) -> list[str]:
    """What pictures say, for a page of pictures; those of one point only count readers."""
    return [
        image.get("alt") or ""
        for image in root.iter("img")
        if image.get("width") not in ("0", "1") and image.get("height") not in ("0", "1")
    ]
