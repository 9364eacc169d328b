"""Parameters of an OpenAPI document that hold credentials, whether it says so or not."""

import re

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_OF_KEYS = frozenset("api rapidapi auth access subscription private secret".split())
"""Words before `key` that make it a credential, and not that of a cache, a partition or a row."""
_OF_HEADERS = _OF_KEYS | frozenset("app application vault admin client consumer license".split())
"""The same where a header has it."""
_OF_TOKENS = frozenset("api auth access oauth bearer private".split())
"""Words before `token` that make it one where a query has it."""
_OTHER_TOKENS = frozenset(
    "csrf xsrf idempotency page paging pagination continuation continue next prev previous sync "
    "cursor skip resume retry delta watch lock captcha recaptcha hcaptcha turnstile device push "
    "change cancel confirm confirmation verification request client upload share preview".split()
)
"""Words in the name of a header with a token that make it none."""
_AS_ONE = frozenset(("apikey", "accesstoken", "authtoken", "apitoken"))


def is_secret(name: str, place: str, security: tuple[object, ...]) -> bool:
    """Whether a parameter holds a credential that the document describes as an argument.

    Args:
        name: Of the parameter.
        place: `query`, `header` or `cookie`.
        security: What the operation asks for.
    """
    words = [one.lower() for one in _WORDS.findall(name)]
    if not words:
        return False
    *before, last = words
    if last in _AS_ONE:
        return True
    of, header = before[-1] if before else "", place == "header"
    if last == "key":
        return of in (_OF_HEADERS if header else _OF_KEYS)
    if last == "token":
        if set(before) <= {"x"}:
            return header or bool(security)
        return not _OTHER_TOKENS.intersection(before) if header else of in _OF_TOKENS
    if header:
        return last in ("authorization", "cookie", "secret", "password")
    return last == "secret" and of in ("client", "api", "app", "consumer")
