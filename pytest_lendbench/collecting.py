"""Making the catalog from the markers: pytest collects the suite and runs nothing."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING

import pytest

from pytest_lendbench.markers import SPEC, MarkerGuard
from pytest_lendbench.rules.catalog import Catalog
from pytest_lendbench.rules.checks import CheckError
from pytest_lendbench.rules.errors import InstrumentError
from pytest_lendbench.suite import GRADING_INI, Suite

if TYPE_CHECKING:
    from pytest_lendbench.rules.checks import CheckSpec


class _Collected:
    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self.specs: dict[str, CheckSpec] = {}

    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.register(MarkerGuard(self._suite, catalogued=False))

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        spec = item.stash[SPEC]
        self.specs[spec.id] = spec


def collect(suite: Suite) -> Catalog:
    """The catalog that the markers of a suite make.

    Raises:
        InstrumentError: A check cannot be collected; pytest's own words are in the message.
    """
    collected = _Collected(suite)
    arguments = ["--collect-only", "-q", "-p", "no:cacheprovider", "-c", str(GRADING_INI), f"--rootdir={suite.root}"]
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status = pytest.main([*arguments, *map(str, suite.paths)], plugins=[collected])
    if status != pytest.ExitCode.OK:
        raise InstrumentError(f"The checks could not be collected.\n{output.getvalue()}", "Repair the check it names.")
    try:
        return Catalog.of(collected.specs.values())
    except CheckError as error:
        raise InstrumentError(f"The checks make no catalog: {error}", "Mark at least one check.") from error
