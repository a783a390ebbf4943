"""What the failed checks have seen, one file each, for a person to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_lendbench.rules.errors import InstrumentError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_lendbench.rules.ledger import Entry


def write(directory: Path, entries: Iterable[Entry]) -> Path | None:
    """Writes a file for each scored entry that failed or errored, and removes those of an earlier grading.

    Returns:
        The directory, or `None` if there was nothing to write; then it isn't made.

    Raises:
        InstrumentError: It cannot be written.
    """
    written = None
    try:
        for entry in entries:
            file = directory / f"{entry.spec.id}.txt"
            if entry.spec.scored and entry.verdict in {"failed", "errored"}:
                directory.mkdir(parents=True, exist_ok=True)
                file.write_text(_text(entry), "utf-8")
                written = directory
            else:
                file.unlink(missing_ok=True)
    except OSError as error:
        raise InstrumentError(
            f"The evidence cannot be written: {error}.", "Name another directory: --evidence DIR."
        ) from error
    return written


def _text(entry: Entry) -> str:
    spec = entry.spec
    head = f"{spec.id} {entry.verdict}\n\n{spec.title}\n{f'{spec.spec}: ' if spec.spec else ''}{spec.why}\n"
    notes = "".join(f"\n--- evidence\n{note}\n" for note in entry.evidence)
    return f"{head}\n{entry.message}\n{notes}\n--- the check\n{entry.details}\n"
