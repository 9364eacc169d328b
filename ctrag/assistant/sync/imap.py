"""Mailboxes over IMAP, opened read-only: no message is marked as read."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ctrag.assistant.sync.source import Fetched, Part, SourceUnavailable, key_of
from ctrag.extras import need

_AT_ONCE = 50
_LARGEST = 25 * 2**20
_LONGEST_LITERAL = 64 * 2**20
"""Bytes that a server may announce at once."""


@dataclass(frozen=True, slots=True)
class Imap:
    """Folders of one mailbox."""

    name: str
    host: str
    user: str
    password: str
    port: int | None = None
    tls: bool = True
    folders: tuple[str, ...] = ("INBOX",)
    days: int = 365
    """Only messages of the last so many days."""

    def fetch(self, tags: Mapping[str, str], meta: Mapping[str, Any]) -> Fetched:
        """See `Source.fetch`."""
        need("reading mail over IMAP", "imap_tools", extra="sync")
        from imaplib import IMAP4

        from imap_tools import MailBox, MailBoxUnencrypted
        from imap_tools.errors import ImapToolsError

        if not self.tls and self.host not in ("localhost", "127.0.0.1", "::1"):
            raise SourceUnavailable(f"{self.name}: a password goes over TLS only")
        opener = MailBox if self.tls else MailBoxUnencrypted
        found = Fetched()
        try:
            box = opener(self.host, self.port or (993 if self.tls else 143), timeout=60)
            _bound(box.client)
            try:
                box.login(self.user, self.password, initial_folder=None)
                for folder in self.folders:
                    self._folder(box, folder, tags, found)
                box.logout()
            finally:
                with suppress(OSError):  # closed by the logout
                    box.client.shutdown()
        except (IMAP4.error, ImapToolsError, OSError, SourceUnavailable) as error:
            said = str(error).replace(self.password, "…") if self.password else str(error)
            raise SourceUnavailable(f"{self.name}: {self.host}: {said[:200]}") from None
        except Exception as error:  # imaplib and imap_tools trust a server to keep to the protocol
            raise SourceUnavailable(
                f"{self.name}: {self.host}: its answer cannot be read ({type(error).__name__})"
            ) from None
        return found

    def _folder(self, box: Any, folder: str, tags: Mapping[str, str], found: Fetched) -> None:
        from datetime import date, timedelta

        from imap_tools import AND

        validity = str(box.folder.status(folder, ["UIDVALIDITY"])["UIDVALIDITY"])
        box.folder.set(folder, readonly=True)
        since = AND(date_gte=date.today() - timedelta(days=self.days))
        changed: dict[str, str] = {}
        why = f"larger than {_LARGEST >> 20} MiB"
        for message in box.fetch(since, mark_seen=False, headers_only=True, bulk=_AT_ONCE):
            # A message itself never changes under its UID; its flags do.
            tag = " ".join(sorted(set(message.flags) - {"\\Recent"})) or "-"
            key = key_of(self.name, folder, validity, message.uid)
            found.keys.add(key)
            if tags.get(key) == tag:
                continue
            if message.size_rfc822 > _LARGEST:
                head = message.obj.as_bytes()
                found.parts.append(Part(key, tag, "mail", head, folder=folder, unread=why))
            else:
                changed[message.uid] = tag
        uids = list(changed)
        for start in range(0, len(uids), _AT_ONCE):
            some = AND(uid=uids[start : start + _AT_ONCE])
            for message in box.fetch(some, mark_seen=False, bulk=True):
                if message.uid in changed:
                    data = message.obj.as_bytes()
                    key = key_of(self.name, folder, validity, message.uid)
                    tag = changed[message.uid]
                    flags = tuple(message.flags)
                    found.parts.append(Part(key, tag, "mail", data, flags, folder))


def _bound(client: Any) -> None:
    """Let a connection read no more at once than a mail can have, whatever the server announces."""
    read = client.read

    def bounded(size: int) -> bytes:
        if size > _LONGEST_LITERAL:
            raise SourceUnavailable(f"it announces {size:,} bytes at once")
        found: bytes = read(size)
        return found

    client.read = bounded
