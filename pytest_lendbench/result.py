"""What a grading has found, for the faces to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_lendbench.bench.grading import Prepared
    from pytest_lendbench.rules.exit_status import Status
    from pytest_lendbench.rules.ledger import Entry
    from pytest_lendbench.rules.quality import Quality
    from pytest_lendbench.rules.scoring import Score


@dataclass(frozen=True)
class Invalid:
    """Why a grading is invalid: what happened, what to do about it, and what only an author of the grader reads."""

    what: str
    todo: str
    details: str = ""


@dataclass(frozen=True)
class ReportSection:
    """What a plugin adds to the reports.

    Attributes:
        name: A short name; the key in the JSON's `sections` and the heading on the terminal.
        lines: For the terminal, the page and the summary.
        data: For the JSON: built-in values only.
    """

    name: str
    lines: tuple[str, ...]
    data: dict[str, Any]


@dataclass(frozen=True)
class GradingResult:
    """One finished grading.

    Attributes:
        status: `scored`, `partial` or `invalid`.
        exit_status: 0, 1 or 10.
        candidate: The tree that was graded.
        track: Its track.
        score: `None` unless the status is `scored`.
        min_score: The total that was asked for, if one was.
        invalid: Set exactly if the status is `invalid`.
        entries: The verdict of each check, in the catalog's order; empty if the catalog itself was unusable.
        prepared: What contract, gate and closeout have found; `None` if the grading did not come so far.
        quality: What the analysis has found; `None` if nothing was analysed.
        catalog_sha256: Of the denominator; `None` as `entries`.
        timings: Seconds for each phase, in the order of the phases; `total` is the last.
        provenance: Versions, digests, machine and command.
        evidence: Directory of the evidence files; `None` if nothing failed.
        sections: What plugins have added.
    """

    status: Status
    exit_status: int
    candidate: Path
    track: str
    score: Score | None
    min_score: float | None
    invalid: Invalid | None
    entries: tuple[Entry, ...]
    prepared: Prepared | None
    catalog_sha256: str | None
    timings: dict[str, float]
    provenance: dict[str, Any]
    quality: Quality | None = None
    evidence: Path | None = None
    sections: tuple[ReportSection, ...] = ()
