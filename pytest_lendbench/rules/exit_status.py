"""The status of a grading, and the exit status that says it to a shell."""

from collections.abc import Iterable
from typing import Literal

from pytest_lendbench.rules.ledger import Entry

Status = Literal["scored", "partial", "invalid"]

GRADED = 0
BELOW = 1
INVALID = 10


def exit_status(status: Status, total: float | None, min_score: float | None, entries: Iterable[Entry]) -> int:
    """0, 1 or 10.

    Args:
        status: Of the grading.
        total: Its total; `None` unless it is `scored`.
        min_score: What was asked for; `None`: that no scored check fails.
        entries: The verdicts. An advisory decides nothing. With a total and no `min_score`, a check that did not pass
            makes the status 1, so a tree that the gate stopped has 1.
    """
    if status == "invalid":
        return INVALID
    if total is not None and min_score is not None:
        return GRADED if total >= min_score else BELOW
    scored = [entry.verdict for entry in entries if entry.spec.scored]
    lost = "failed" in scored or (status == "scored" and "not-run" in scored)
    return BELOW if lost else GRADED
