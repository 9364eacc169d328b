"""CalDAV and CardDAV against Radicale, IMAP against pymap: real servers on this machine."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from email.message import EmailMessage
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from ctrag.assistant.sync.dav import Dav
from ctrag.assistant.sync.engine import Synced
from ctrag.assistant.sync.imap import Imap
from ctrag.assistant.sync.source import Source, SourceUnavailable
from stores.people.stores import Stores
from tests.assistant.sync.conftest import calendar, event, titles

pytestmark = pytest.mark.slow
Sync = Callable[[Source], Synced]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def served(command: Sequence[str], port: int) -> Iterator[int]:
    """The port of a server, as soon as it listens."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if server.poll() is not None:
                pytest.fail(f"{command[:3]} ended with {server.returncode}")
            time.sleep(0.1)
        yield port
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def dav(tmp_path: Path) -> Iterator[str]:
    if find_spec("radicale") is None:
        pytest.skip("radicale is not installed: pip install radicale")
    port = free_port()
    users = tmp_path / "users"
    users.write_text("me:pa55\n")
    options = [f"--server-hosts=127.0.0.1:{port}", "--auth-type=htpasswd"]
    options += [f"--auth-htpasswd-filename={users}", "--auth-htpasswd-encryption=plain"]
    options += [f"--storage-filesystem-folder={tmp_path / 'dav'}"]
    for used in served([sys.executable, "-m", "radicale", "--config=", *options], port):
        yield f"http://127.0.0.1:{used}/"


def put(url: str, text: str, kind: str) -> None:
    answer = httpx.put(
        url, content=text.encode(), auth=("me", "pa55"), headers={"Content-Type": kind}
    )
    assert answer.status_code in (201, 204), answer.text


def collection(url: str, kind: str) -> None:
    types = {
        "calendar": '<C:calendar xmlns:C="urn:ietf:params:xml:ns:caldav"/>',
        "contacts": '<C:addressbook xmlns:C="urn:ietf:params:xml:ns:carddav"/>',
    }
    body = (
        '<d:mkcol xmlns:d="DAV:"><d:set><d:prop><d:resourcetype><d:collection/>'
        f"{types[kind]}</d:resourcetype></d:prop></d:set></d:mkcol>"
    )
    answer = httpx.request("MKCOL", url, content=body, auth=("me", "pa55"))
    assert answer.status_code == 201, answer.text


def test_a_calendar_server_is_found_read_and_followed(
    dav: str, sync: Sync, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection(f"{dav}me/work/", "calendar")
    for name, title in (("a", "Dentist"), ("b", "Choir")):
        put(f"{dav}me/work/{name}.ics", calendar(event(name, title)), "text/calendar")
    source = Dav("home", "calendar", dav, "me", "pa55")
    assert sync(source).report.stored.added == 2
    with monkeypatch.context() as patched:
        patched.setattr(Dav, "_collect", None)  # its token says that there is nothing to list
        assert sync(source).unchanged
    put(f"{dav}me/work/a.ics", calendar(event("a", "Dentist moved", 14)), "text/calendar")
    httpx.delete(f"{dav}me/work/b.ics", auth=("me", "pa55")).raise_for_status()
    done = sync(source)
    assert (done.report.stored.changed, done.gone) == (1, 1)
    assert titles(stores) == ["Dentist moved"]
    stores.undo("me")
    assert titles(stores) == ["Choir", "Dentist"]
    with pytest.raises(SourceUnavailable, match="refuses user and password") as caught:
        sync(Dav("home", "calendar", dav, "me", "wr0ng"))
    assert "wr0ng" not in str(caught.value)


def card(name: str, phone: str) -> str:
    lines = ["BEGIN:VCARD", "VERSION:3.0", f"UID:{name}", f"FN:{name}", f"N:{name};;;;"]
    return "\r\n".join([*lines, f"TEL:{phone}", "END:VCARD", ""])


def test_an_address_book_server_is_followed(dav: str, sync: Sync, stores: Stores) -> None:
    collection(f"{dav}me/people/", "contacts")
    for name, phone in (("Ole", "11111111"), ("Ida", "22222222")):
        put(f"{dav}me/people/{name}.vcf", card(name, phone), "text/vcard")
    source = Dav("book", "contacts", f"{dav}me/", "me", "pa55")
    sync(source)
    assert {one.name: one.phone for one in stores.person("me").contacts} == {
        "Ole": "11111111",
        "Ida": "22222222",
    }
    put(f"{dav}me/people/Ole.vcf", card("Ole", "33333333"), "text/vcard")
    httpx.delete(f"{dav}me/people/Ida.vcf", auth=("me", "pa55")).raise_for_status()
    assert sync(source).gone == 1
    [ole] = stores.person("me").contacts
    assert (ole.name, ole.all_phones()) == ("Ole", ("33333333",))


def mail(subject: str) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Ole <ole@b.example>", "me@b.example", subject
    made["Date"] = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime())
    made["Message-ID"] = f"<{subject.replace(' ', '')}@b.example>"
    made.set_content("See you there.")
    return made


@pytest.fixture
def imap() -> Iterator[int]:
    if find_spec("pymap") is None or find_spec("imap_tools") is None:
        pytest.skip("pymap and imap-tools are not installed: pip install pymap imap-tools")
    port = free_port()
    command = [str(Path(sys.executable).with_name("pymap")), "--host", "127.0.0.1"]
    command += ["--port", str(port), "--no-tls", "--no-service", "admin"]
    command += ["--no-service", "managesieve", "dict", "--demo-data"]
    yield from served(command, port)


def test_a_mailbox_is_followed_and_nothing_in_it_is_touched(
    imap: int, sync: Sync, stores: Stores
) -> None:
    from imap_tools import AND, MailBoxUnencrypted

    port = imap
    source = Imap("box", "127.0.0.1", "demouser", "demopass", port, tls=False, folders=("Sent",))
    with MailBoxUnencrypted("127.0.0.1", port).login("demouser", "demopass", "Sent") as box:
        box.delete(box.uids())
        for subject in ("Lunch on Friday", "Skis"):
            box.append(mail(subject).as_bytes(), "Sent", dt=None)
    assert sync(source).report.stored.added == 2
    assert titles(stores, "mail") == ["Lunch on Friday", "Skis"]
    assert sync(source).unchanged
    with MailBoxUnencrypted("127.0.0.1", port).login("demouser", "demopass", "Sent") as box:
        assert len(box.uids(AND(seen=False))) == 2  # reading marked nothing as read
        [skis] = box.uids(AND(subject="Skis"))
        box.delete(skis)
        box.append(mail("Sauna").as_bytes(), "Sent", dt=None)
    done = sync(source)
    assert (done.report.stored.added, done.gone) == (1, 1)
    assert titles(stores, "mail") == ["Lunch on Friday", "Sauna"]
    wrong = Imap("box", "127.0.0.1", "demouser", "wr0ng", port, tls=False)
    with pytest.raises(SourceUnavailable, match=r"box: 127\.0\.0\.1") as caught:
        sync(wrong)
    assert "wr0ng" not in str(caught.value)


def test_a_mail_that_is_too_large_is_not_fetched_and_is_counted(
    imap: int, sync: Sync, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    from imap_tools import MailBoxUnencrypted

    monkeypatch.setattr("ctrag.assistant.sync.imap._LARGEST", 10_000)
    source = Imap("box", "127.0.0.1", "demouser", "demopass", imap, tls=False, folders=("Sent",))
    with MailBoxUnencrypted("127.0.0.1", imap).login("demouser", "demopass", "Sent") as box:
        box.delete(box.uids())
        film = mail("The film")
        film.add_attachment(bytes(20_000), "video", "mp4", filename="film.mp4")
        for one in (film, mail("Skis")):
            box.append(one.as_bytes(), "Sent", dt=None)
    done = sync(source)
    assert [(one.what, one.source) for one in done.report.left_out] == [("The film", "Sent")]
    assert titles(stores, "mail") == ["Skis"]
    assert sync(source).unchanged


def test_a_password_is_not_sent_in_the_clear() -> None:
    with pytest.raises(SourceUnavailable, match=r"over TLS only|not installed"):
        Imap("box", "imap.example", "me", "pw", tls=False).fetch({}, {})
