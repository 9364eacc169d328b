"""The chat endpoint of `ctrag serve assistant`."""

import re
from typing import Any

import aiohttp

MODEL = "ctrag"
_WAIT = aiohttp.ClientTimeout(total=180)
_ESCAPED = re.compile(r"\\([!\[\]<`\\])")
_ISOLATES = re.compile("[\u2066-\u2069]")


class CannotConnect(Exception):
    """The server is not there, or is no assistant; the message is for the log."""


class InvalidToken(Exception):
    """The server does not know the token."""


class Refused(Exception):
    """The server does not answer this request; the message is for the person."""


class Client:
    """Talks with one assistant.

    Args:
        session: Home Assistant's.
        url: Where it is served, without `/v1`.
        token: A bearer token, or "".
    """

    def __init__(self, session: aiohttp.ClientSession, url: str, token: str) -> None:
        self._session = session
        self._url = url.rstrip("/").removesuffix("/v1")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    async def check(self) -> None:
        """Raise where there is no assistant that lets the token in."""
        listed = await self._request("GET", "/v1/models")
        if MODEL not in [one.get("id") for one in listed.get("data", [])]:
            raise CannotConnect(f"{self._url} serves no model {MODEL!r}")

    async def complete(self, messages: list[dict[str, str]]) -> tuple[str, bool]:
        """The assistant's next message, and whether it waits for an answer."""
        body = {"model": MODEL, "messages": messages}
        answer = await self._request("POST", "/v1/chat/completions", body)
        try:
            text = str(answer["choices"][0]["message"]["content"])
        except (LookupError, TypeError):
            raise CannotConnect(f"{self._url} did not answer with a chat completion") from None
        return text, bool((answer.get("ctrag") or {}).get("asks"))

    async def _request(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        try:
            async with self._session.request(
                method, self._url + path, json=body, headers=self._headers, timeout=_WAIT
            ) as answer:
                status, content = answer.status, await answer.json(content_type=None)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise CannotConnect(f"{self._url}: {error or type(error).__name__}") from error
        if status == 401:
            raise InvalidToken
        if status >= 400:
            told = content.get("error") if isinstance(content, dict) else None
            said = told.get("message") if isinstance(told, dict) else None
            raise Refused(str(said or f"The assistant answered with status {status}."))
        if not isinstance(content, dict):
            raise CannotConnect(f"{self._url} did not answer with JSON")
        return content


def spoken(text: str) -> str:
    """A message without the backslashes that keep it text where Markdown is read, and without the
    marks that keep names from turning what is beside them."""
    return _ISOLATES.sub("", _ESCAPED.sub(r"\1", text))
