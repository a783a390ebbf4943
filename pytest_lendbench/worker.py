"""Where checks run: in a worker process, or in the one process there is."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest

from pytest_lendbench import distributed, verdicts
from pytest_lendbench.bench.grading import Prepared
from pytest_lendbench.bench.watch import watched
from pytest_lendbench.markers import SPEC

if TYPE_CHECKING:
    from collections.abc import Generator

PREPARED = pytest.StashKey[Prepared]()
"""On the config of a process that runs checks: the built tree. Set before the first check is set up."""

EVIDENCE = pytest.StashKey[Path]()
"""As `PREPARED`: the directory of evidence, which may not exist yet."""


class Worker:
    """Puts the verdict of each check on its report."""

    def __init__(self, config: pytest.Config) -> None:
        # pytest-playwright empties its output directory, by default one of the user's.
        if config.getoption("output", None) == "test-results":
            config.option.output = tempfile.mkdtemp(prefix="playwright-")

    @classmethod
    def of_controller(cls, config: pytest.Config) -> Self:
        """In a worker process: with the tree that the controller has provided."""
        given = json.loads(distributed.handed_over(config))
        config.stash[PREPARED] = Prepared.from_json(given["prepared"])
        config.stash[EVIDENCE] = Path(given["evidence"])
        return cls(config)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, None, None]:
        """No check waits for ever, nor does what comes before and after it."""
        with watched():
            yield

    pytest_runtest_call = pytest_runtest_teardown = pytest_runtest_setup

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """A report of a test that failed a subtest passes through here as well, once for each subtest."""
        report = yield
        spec = item.stash.get(SPEC, None)
        if spec is not None:
            verdicts.record(item, spec.id, report, call.excinfo)
        return report
