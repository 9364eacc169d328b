"""What commands say of the recordings that they learn from."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ctrag.cli.output import note


def say_recordings(paths: Sequence[Path]) -> None:
    """On stderr, what each recording among these teaches and what it leaves out."""
    from ctrag.agents.session.lessons import lessons_of
    from ctrag.agents.session.recording import is_recording, read_recordings

    for path in paths:
        if is_recording(path):
            recording = read_recordings([path])
            found = lessons_of(recording)
            say_counts(path, found.learned, found.left_out, recording.first)


def say_counts(
    path: Path, learned: Mapping[str, int], left_out: Mapping[str, int], first: str = ""
) -> None:
    """The counts of one recording, on stderr.

    Args:
        path: Where it is.
        learned: Counts by what they are of.
        left_out: The same of what was not learned.
        first: Place and reason of the first line that could not be read.
    """
    note(f"{path}: learned from {_listed(learned)}")
    if left_out:
        note(f"{path}: left out {_listed(left_out)}" + (f"; first {first}" if first else ""))


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"
