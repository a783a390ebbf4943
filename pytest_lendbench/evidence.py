"""What the failed checks have seen, in files for a person: a text for each, and its screenshots beside it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from pytest_lendbench.rules.errors import InstrumentError
from pytest_lendbench.rules.evidence import Recording, screenshots, texts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_lendbench.rules.ledger import Entry


def write(directory: Path, entries: Iterable[Entry]) -> Path | None:
    """Writes the files of each scored entry that failed or errored, and removes those of an earlier grading.

    Traces of Playwright's are there already: the workers have written them.

    Returns:
        The directory, or `None` if there was nothing to write; then it isn't made.

    Raises:
        InstrumentError: It cannot be written.
    """
    written = None
    try:
        for entry in entries:
            files = _files(entry) if entry.spec.scored and entry.verdict in {"failed", "errored"} else {}
            recorded = {piece.file for piece in entry.evidence if isinstance(piece, Recording)}
            for old in directory.glob(f"{entry.spec.id}[.-]*"):
                if _ours(old.name, entry.spec.id) and old.name not in files.keys() | recorded:
                    old.unlink(missing_ok=True)
            for name, content in files.items():
                directory.mkdir(parents=True, exist_ok=True)
                (directory / name).write_bytes(content)
                written = directory
    except OSError as error:
        raise InstrumentError(
            f"The evidence cannot be written: {error}.", "Name another directory: --evidence DIR."
        ) from error
    return written


def _ours(name: str, check: str) -> bool:
    """Whether a file of this name is evidence of that check, and not of one whose id begins as its does."""
    rest, _, ending = name.removeprefix(check).rpartition(".")
    return (rest, ending) == ("", "txt") or (rest[:1] == "-" and rest[1:].isdecimal() and ending in {"png", "zip"})


def _files(entry: Entry) -> dict[str, bytes]:
    shots = screenshots(entry.spec.id, entry.evidence)
    pictures = {name: base64.b64decode(shot.png) for name, shot in shots.items()}
    return {f"{entry.spec.id}.txt": _text(entry).encode(), **pictures}


def _text(entry: Entry) -> str:
    spec = entry.spec
    head = f"{spec.id} {entry.verdict}\n\n{spec.title}\n{f'{spec.spec}: ' if spec.spec else ''}{spec.why}\n"
    notes = "".join(f"\n--- evidence\n{note}\n" for note in texts(spec.id, entry.evidence))
    return f"{head}\n{entry.message}\n{notes}\n--- the check\n{entry.details}\n"
