"""The result as JSON: `--score-json FILE`. `Report` is its documentation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypedDict

from pytest_lendbench.faces.whole_file import write_whole
from pytest_lendbench.rules import evidence

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_lendbench.result import GradingResult
    from pytest_lendbench.rules.checks import Kind
    from pytest_lendbench.rules.closeout import Closeout
    from pytest_lendbench.rules.exit_status import Status
    from pytest_lendbench.rules.ledger import Entry, Verdict
    from pytest_lendbench.rules.scoring import Axis, AxisName, Tier

SCHEMA = 2


class AxisReport(TypedDict):
    """One axis. `not_measured` names the parts of it that count as perfect because nothing measures them yet."""

    rate: float
    points: float
    most: int
    not_measured: list[str]


class TierReport(TypedDict):
    """One tier of the completion checks. `scale`: by how much the credit for its passed checks counts, 0 to 1."""

    tier: int
    passed: int
    checks: int
    scale: float


class CheckReport(TypedDict):
    """One check, probe or advisory. `spec` is empty and `tier` is null where the kind has none.

    `evidence` is text; a screenshot or a trace of Playwright's is named by its file in the directory of evidence.
    """

    id: str
    kind: Kind
    domain: str
    tier: int | None
    weight: float
    spec: str
    why: str
    title: str
    verdict: Verdict
    message: str
    evidence: list[str]
    duration_s: float


class InvalidReport(TypedDict):
    """Why there is no total: what happened, what to do, and the traceback if there was one."""

    what: str
    todo: str
    details: str


class Report(TypedDict):
    """A grading. What is null was not reached, or does not exist for this status.

    `total` is out of 100, to one decimal, and `total_exact` is the same unrounded; both are null unless `status` is
    `scored`, and so are `axes` and `tiers`. Times are seconds.

    - `gate`: `{passed, step, output, duration}`.
    - `contract`: lists of `[path, sentence]` in `added`, `protected`, `exports` and `left_out_imports`, and the
      `violated_classes`.
    - `closeout`: `{rules: [{name, rule, broken}], ticked, share}`. `broken` is empty for a rule that is held; `share`
      is 0 to 1.
    - `quality`: `{penalty, above: [{rule, category, severity, file, line, message, source, weight}]}`.
    - `ruler`: `{revision, suite, baseline}`, the latter two digests: results with equal rulers can be compared.
    - `evidence_dir`: holds a text file for each check that failed or errored, and its screenshots.
    - `sections`: what plugins add.
    """

    schema: int
    status: Status
    exit_status: int
    total: float | None
    total_exact: float | None
    min_score: float | None
    blocked_by_gate: bool
    axes: dict[AxisName, AxisReport] | None
    tiers: list[TierReport] | None
    gate: dict[str, Any] | None
    contract: dict[str, Any] | None
    closeout: dict[str, Any] | None
    quality: dict[str, Any] | None
    checks: list[CheckReport]
    ruler: dict[str, str] | None
    catalog_sha256: str | None
    timings: dict[str, float]
    provenance: dict[str, Any]
    candidate: str
    track: str
    invalid: InvalidReport | None
    evidence_dir: str | None
    sections: dict[str, dict[str, Any]]


def build(result: GradingResult) -> Report:
    """The report of a result."""
    score, prepared, invalid = result.score, result.prepared, result.invalid
    return Report(
        schema=SCHEMA,
        status=result.status,
        exit_status=result.exit_status,
        total=score.total if score else None,
        total_exact=float(score.exact) if score else None,
        min_score=result.min_score,
        blocked_by_gate=bool(score and score.blocked_by_gate),
        axes={axis.name: _axis(axis) for axis in score.axes} if score else None,
        tiers=[_tier(tier) for tier in score.tiers] if score else None,
        gate=prepared.gate.to_json() if prepared else None,
        contract=prepared.contract.to_json() if prepared else None,
        closeout=_closeout(prepared.closeout) if prepared and prepared.closeout else None,
        quality=result.quality.to_json() if result.quality else None,
        checks=[_check(entry) for entry in result.entries],
        ruler=result.provenance.get("ruler"),
        catalog_sha256=result.catalog_sha256,
        timings={name: round(seconds, 3) for name, seconds in result.timings.items()},
        provenance=result.provenance,
        candidate=str(result.candidate),
        track=result.track,
        invalid=InvalidReport(what=invalid.what, todo=invalid.todo, details=invalid.details) if invalid else None,
        evidence_dir=str(result.evidence) if result.evidence else None,
        sections={section.name: section.data for section in result.sections},
    )


def _closeout(closeout: Closeout) -> dict[str, Any]:
    return {**closeout.to_json(), "share": float(closeout.share)}


def _axis(axis: Axis) -> AxisReport:
    rate, points = float(axis.rate), float(axis.points)
    return AxisReport(rate=rate, points=points, most=axis.most, not_measured=list(axis.not_measured))


def _tier(tier: Tier) -> TierReport:
    return TierReport(tier=tier.number, passed=tier.passed, checks=tier.checks, scale=float(tier.scale))


def _check(entry: Entry) -> CheckReport:
    spec = entry.spec
    return CheckReport(
        id=spec.id,
        kind=spec.kind,
        domain=spec.domain,
        tier=spec.tier,
        weight=spec.weight,
        spec=spec.spec,
        why=spec.why,
        title=spec.title,
        verdict=entry.verdict,
        message=entry.message,
        evidence=evidence.texts(spec.id, entry.evidence),
        duration_s=round(entry.duration_s, 3),
    )


class JsonFace:
    """Writes the report to a file, if one was asked for."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def pytest_lendbench_publish(self, result: GradingResult) -> None:
        """Atomically: whoever looks finds nothing or the whole report.

        Raises:
            OSError: It cannot be written.
        """
        if self._file is not None:
            # Lone surrogates (a file name that is no text) become escapes.
            write_whole(self._file, json.dumps(build(result), indent=2, ensure_ascii=True) + "\n")
