"""What pytest's JUnit XML (`--junitxml FILE`) says of a grading: properties of each check, and of the whole."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_lendbench.rules.ledger import VERDICTS
from pytest_lendbench.verdicts import Said

if TYPE_CHECKING:
    from pytest_lendbench.result import GradingResult
    from pytest_lendbench.rules.catalog import Catalog
    from pytest_lendbench.rules.ledger import Verdict
    from pytest_lendbench.suite import Suite


class JUnitFace:
    """Names each test case's check, and writes the total into the file that pytest has made.

    Args:
        file: The value of `--junitxml`; `None` if it wasn't given.
        suite: The checks.
    """

    def __init__(self, file: str | None, suite: Suite) -> None:
        # As pytest reads it.
        self._file = Path(os.path.expandvars(file)).expanduser() if file else None
        self._suite = suite
        self._verdicts: dict[str, Verdict] = {}

    @cached_property
    def _catalog(self) -> Catalog:
        return self._suite.read_catalog()

    # Before pytest's own, which takes a test case's properties from one of its reports. The controller must have
    # read the verdict by then: its hook is a `tryfirst` too, and of these the one registered last is called first.
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Puts properties for people in the place of the one by which a verdict travels."""
        said = Said.of(report)
        if said is None:
            return
        known = self._verdicts.pop(report.nodeid, said.verdict)
        strongest = max(known, said.verdict, key=VERDICTS.index)
        if report.when != "teardown":
            self._verdicts[report.nodeid] = strongest
        others = [one for one in report.user_properties if one[0] != said.to_property()[0]]
        report.user_properties = [*others, *self._properties(said.id, strongest)]

    def _properties(self, name: str, verdict: Verdict) -> list[tuple[str, object]]:
        spec = self._catalog.get(name)
        facts = ("kind", "domain", "tier", "weight")
        told = [(fact, getattr(spec, fact)) for fact in facts if getattr(spec, fact, None) is not None]
        return [("id", name), *told, ("verdict", verdict)]

    def pytest_lendbench_publish(self, result: GradingResult) -> None:
        """Adds status and total to the file. pytest has written it before there was a total.

        Raises:
            OSError, xml.etree.ElementTree.ParseError: pytest has left no file that can be read.
        """
        if self._file is None:
            return
        facts = {"status": result.status, "track": result.track}
        if result.score is not None:
            facts["total"] = f"{result.score.total:.1f}"
        document = ET.parse(self._file)  # noqa: S314 (pytest has just written it, and escapes what it quotes)
        for suite in document.iter("testsuite"):
            properties = suite.find("properties")
            if properties is None:
                properties = ET.Element("properties")
                suite.insert(0, properties)
            for name, value in facts.items():
                ET.SubElement(properties, "property", name=name, value=value)
        document.write(self._file, encoding="utf-8", xml_declaration=True)
