"""The hooks by which a plugin of yours extends the grader. Implement them as any hook of pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_lendbench.bench.grading import Prepared
    from pytest_lendbench.result import GradingResult, ReportSection
    from pytest_lendbench.rules.ledger import Ledger
    from pytest_lendbench.rules.scoring import Measures, Score
    from pytest_lendbench.suite import Suite


@pytest.hookspec(firstresult=True)
def pytest_lendbench_suite() -> Suite | None:
    """Says which checks are run. Asked before any conftest is loaded, in the controller and in each worker."""


@pytest.hookspec(firstresult=True)
def pytest_lendbench_provision(candidate: Path, track: str, say: Callable[[str], None], reuse: bool) -> Prepared | None:
    """Turns a candidate into a tree that is built and can be served: steps 1 to 4 of a grading.

    Asked once, in the controller. `say` shows a person what is being done; with `reuse` an earlier build of the same
    files may be taken. Raise `CandidateRefused` or `InstrumentError` to make the grading invalid.
    """


@pytest.hookspec(firstresult=True)
def pytest_lendbench_score(ledger: Ledger, measures: Measures) -> Score | None:
    """Turns the verdicts into a score. Asked once, in the controller, when the grading is to have a total."""


@pytest.hookspec
def pytest_lendbench_report(result: GradingResult) -> ReportSection | None:
    """Adds a section to every report of this grading but JUnit's. Asked once, in the controller, of everyone."""


@pytest.hookspec
def pytest_lendbench_publish(result: GradingResult) -> None:
    """Shows the finished grading: the terminal section and the JSON file are two of these."""
