"""Importing a mailbox into stores: seconds, CPU seconds and peak memory.

`python -m benchmarks.importing --mails 1000` encodes each mail; with `--encoded 200`, only the
first 200: the others are stored with random vectors, which shows memory and the time of the rest.
With `--without-encoder` no encoder is loaded.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ctrag.assistant.context.item_arrays import encode_items
from ctrag.assistant.imports.files import new_person, owner_of, records_in
from ctrag.assistant.imports.run import import_into
from ctrag.models.encoder import load_encoder
from ctrag.settings import settings
from stores.people.items import Item, Person
from stores.people.stores import Encode, Matrix, Stores

_WORDS = (
    "please the meeting moves to Thursday because invoice ferry school roof offer and we can bring "
    "your table is booked for four people at the pond with rubber boots until the key arrives"
).split()


def main() -> None:
    """Make a mailbox, import it, and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mails", type=int, default=1000)
    parser.add_argument("--encoded", type=int, help="mails that are encoded, all by default")
    parser.add_argument("--without-encoder", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mail.mbox")
        _write(path, chosen.mails)
        name, encode = ("none", _noise) if chosen.without_encoder else _encoder(chosen.encoded)
        person = new_person("ada", "Ada Quist", "Europe/Oslo")
        began, cpu = time.monotonic(), time.process_time()
        records = records_in(path, owner_of(person))
        report = import_into(Stores(Path(folder, "stores")), person, records, encode, name)
        stored = report.stored.added
        figures = {
            "mails": stored,
            "encoder": name,
            "encoded": 0 if chosen.without_encoder else min(stored, chosen.encoded or stored),
            "seconds": round(time.monotonic() - began, 1),
            "cpu_seconds": round(time.process_time() - cpu, 1),
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }
    print(json.dumps(figures))


def _encoder(most: int | None) -> tuple[str, Encode]:
    encoder = load_encoder(settings().encoder)
    encoder.encode(["warm"])
    encoded = 0

    def encode(owned: Sequence[tuple[Person, Item]]) -> Matrix:
        nonlocal encoded
        if most is not None and encoded >= most:
            return _noise(owned)
        encoded += len(owned)
        return encode_items(encoder, list(owned))

    return encoder.name, encode


_DRAW = np.random.default_rng(0)


def _noise(owned: Sequence[tuple[Person, Item]]) -> Matrix:
    """Random unit vectors: as large as encoded ones, also where they are compressed."""
    rows = _DRAW.standard_normal((len(owned), 1152)).astype(np.float32)
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def _write(path: Path, mails: int) -> None:
    """Mails of 40 to 260 words."""
    draw = random.Random(5)
    with path.open("w", encoding="utf-8") as file:
        for number in range(mails):
            body = " ".join(draw.choices(_WORDS, k=draw.randint(40, 260)))
            file.write(
                f"From - Thu Apr 17 08:00:00 2025\nFrom: Uwe Sack <uwe{number % 50}@example.org>\n"
                f"To: ada@example.org\nDate: Wed, {1 + number % 28} Apr 2025 12:00:30 +0200\n"
                f"Message-ID: <{number}@example.org>\nSubject: Offer {number}\n\n{body}\n\n"
            )


if __name__ == "__main__":
    main()
