"""The grader's own answers to its hooks. A plugin that answers first replaces them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_lendbench.rules import scoring
from pytest_lendbench.suite import Suite, default_suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_lendbench.bench.grading import Prepared
    from pytest_lendbench.rules.ledger import Ledger
    from pytest_lendbench.rules.scoring import Measures, Score


@pytest.hookimpl(trylast=True)
def pytest_lendbench_suite() -> Suite:
    return default_suite()


@pytest.hookimpl(trylast=True)
def pytest_lendbench_provision(candidate: Path, track: str, say: Callable[[str], None], reuse: bool) -> Prepared:
    from pytest_lendbench.bench.grading import prepare  # noqa: PLC0415 (not needed where nothing is graded)

    return prepare(candidate, track, say, reuse=reuse)


@pytest.hookimpl(trylast=True)
def pytest_lendbench_score(ledger: Ledger, measures: Measures) -> Score:
    return scoring.score(ledger, measures)
