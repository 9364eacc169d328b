"""Reading a large mailbox: seconds and peak memory, encoding and storing left out.

`python -m benchmarks.mailbox --mails 20000 --attachment 45`
"""

import argparse
import base64
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from zoneinfo import ZoneInfo

from ctrag.assistant.imports.found import LeftOut, Owner
from ctrag.assistant.imports.mails import mails_in

_WORDS = (
    "please the meeting moves to Thursday because invoice ferry school roof offer and we can bring "
    "your table is booked for four people at the pond with rubber boots until the key arrives"
).split()


def main() -> None:
    """Make a mailbox, read it, and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mails", type=int, default=20_000)
    parser.add_argument("--attachment", type=int, default=45, help="MB of the one large attachment")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all.mbox"
        with path.open("wb") as file:
            for message in _mailbox(asked.mails, asked.attachment, random.Random(asked.seed)):
                file.write(message)
        owner = Owner("me", ZoneInfo("Europe/Oslo"), datetime(2026, 11, 26, 12))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        read = left = 0
        for one in mails_in(path, owner):
            read, left = read + (one.__class__ is not LeftOut), left + isinstance(one, LeftOut)
        seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(
            f"{path.stat().st_size / 1e6:.0f} MB, {read} mails read and {left} left out: "
            f"{seconds:.1f} s, {peak / 1024:.0f} MB of memory at the peak "
            f"({before / 1024:.0f} MB before)"
        )


def _mailbox(mails: int, attachment: int, draw: random.Random) -> Iterator[bytes]:
    """Four in ten plain, five as plain text and HTML, one with HTML alone; one in twenty has a
    small attachment and one mail a large one."""
    start = datetime(2020, 1, 1, 8)
    for number in range(mails):
        text = "\n".join(" ".join(draw.choices(_WORDS, k=12)) for _ in range(draw.randrange(4, 40)))
        html = "<html><body>" + "".join(f"<p>{line}</p>" for line in text.split("\n"))
        message = EmailMessage()
        sender = f"n{number % 300}@example.org"
        message["From"] = f"Bea Lund {number % 300} <{sender}>"
        message["To"] = "Ada Quist <ada@example.org>"
        message["Subject"] = " ".join(draw.choices(_WORDS, k=4))
        when = start + timedelta(hours=3 * number)
        message["Date"] = f"{when:%a, %d %b %Y %H:%M:%S} +0100"
        message["Message-ID"] = f"<{number}@example.org>"
        message["X-Gmail-Labels"] = draw.choice(("Inbox,Opened", "Inbox,Unread", "Sent,Opened"))
        kind = number % 10
        if kind == 9:
            message.set_content(html, subtype="html")
        else:
            message.set_content(text)
            if kind > 3:
                message.add_alternative(html, subtype="html")
        if number % 20 == 1:
            message.add_attachment(draw.randbytes(30_000), "image", "jpeg", filename="photo.jpg")
        data = message.as_bytes()
        yield b"From %s %s\n" % (sender.encode(), f"{when:%a %b %d %H:%M:%S %Y}".encode())
        if number == mails // 2:
            yield from _with_large(data, attachment, draw)
        else:
            yield data
        yield b"\n\n"


def _with_large(data: bytes, size: int, draw: random.Random) -> Iterator[bytes]:
    """The mail with an attachment of `size` MB in place of what it says."""
    head, _, _ = data.partition(b"\nMIME-Version")
    yield head.partition(b"\nContent-Type")[0]
    yield b'\nContent-Type: multipart/mixed; boundary="L"\n\n--L\n\nThe film of the trip.\n--L\n'
    yield b'Content-Type: video/mp4; name="trip.mp4"\nContent-Transfer-Encoding: base64\n\n'
    for _ in range(size):
        yield base64.encodebytes(draw.randbytes(57 * 17_544))  # a MB in whole lines
    yield b"--L--\n"


if __name__ == "__main__":
    main()
