"""A plugin that stands in for the bench: a suite of the test's own, and trees that need no toolchain.

What becomes of a fake candidate is said by the names of its files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_lendbench.bench.analysis import Sources
from pytest_lendbench.bench.gate import GateResult
from pytest_lendbench.bench.grading import Prepared
from pytest_lendbench.rules.contract import ContractFindings
from pytest_lendbench.rules.errors import CandidateRefused, InstrumentError, UsageProblem
from pytest_lendbench.suite import Suite
from pytest_lendbench.worker import PREPARED

if TYPE_CHECKING:
    from collections.abc import Callable

RAISED: dict[str, BaseException] = {
    "refused": CandidateRefused("The tree has a link.", "Take it out."),
    "no-disk": InstrumentError("The disk is full.", "Free some space."),
    "not-ours": UsageProblem("It is not a tree of this app."),
    "bug": ZeroDivisionError("a bug of the bench"),
    "interrupt": KeyboardInterrupt(),
}


def pytest_lendbench_suite() -> Suite:
    root = Path(os.environ["FAKE_SUITE"])
    return Suite(root, (root / "checks",), root / "checks" / "catalog.toml", root / "SPEC.md")


def pytest_lendbench_provision(candidate: Path, track: str, say: Callable[[str], None]) -> Prepared:
    say("fake: making the tree")
    files = {path.name for path in candidate.iterdir()}
    run_dir = Path(tempfile.mkdtemp(prefix="fake-"))
    for name in RAISED.keys() & files:
        raise RAISED[name]
    if "leaks" in files:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], cwd=run_dir)
    passed = "type-error" not in files
    return Prepared(
        candidate=str(candidate),
        track=track,
        run_dir=str(run_dir),
        tree=str(run_dir / "tree"),
        node="node",
        node_modules="node_modules",
        tools="tools",
        browser=None,
        contract=ContractFindings(added=(("src/extra.ts", "Added."),) if "extra" in files else ()),
        gate=GateResult(passed, None if passed else "typecheck", "" if passed else "src/a.ts(1,1): error TS2322", 0.5),
        timings={"read": 0.1, "gate": 0.5},
        provenance={"candidate": {}, "versions": {"node": "fake"}},
        sources=Sources(run_dir, (), Path("/bin/true"), run_dir, run_dir) if "sources" in files else None,
    )


@pytest.fixture(scope="session")
def tree(pytestconfig: pytest.Config) -> Path:
    """The fake candidate, as the controller has handed it over."""
    return Path(pytestconfig.stash[PREPARED].candidate)
