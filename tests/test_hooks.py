"""A separate little plugin extends the grader through each of its hooks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gradings import PERFECT, Grader

if TYPE_CHECKING:
    import pytest

PLUGIN = """
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import lendbench_fake
from pytest_lendbench.result import ReportSection
from pytest_lendbench.rules import scoring


def pytest_lendbench_suite():
    return replace(lendbench_fake.pytest_lendbench_suite(), spec=Path(__file__).with_name("OTHER.md"))


def pytest_lendbench_provision(candidate, track, say):
    say("little plugin: provides")
    prepared = lendbench_fake.pytest_lendbench_provision(candidate, track, say)
    return replace(prepared, provenance={"by": "little plugin"})


def pytest_lendbench_score(ledger, measures):
    return scoring.score(ledger, replace(measures, closeout=0.5, penalty=15.0))


def pytest_lendbench_report(result):
    count = sum(entry.verdict == "passed" for entry in result.entries)
    return ReportSection("little", (f"{count} passed, says the plugin",), {"passed": count})


def pytest_lendbench_publish(result):
    Path("published.json").write_text(json.dumps([result.status, [section.name for section in result.sections]]))
"""


def test_one_plugin_can_answer_every_hook(grader: Grader, monkeypatch: pytest.MonkeyPatch, way: list[str]) -> None:
    root = grader.suite()
    plugins = grader.path / "plugins"
    plugins.mkdir()
    (plugins / "little.py").write_text(PLUGIN)
    (root / "SPEC.md").rename(plugins / "OTHER.md")
    monkeypatch.setenv("PYTHONPATH", str(plugins), prepend=":")

    graded = grader.run("-p", "little", f"--candidate={grader.candidate(*PERFECT)}", *way)

    assert graded.status == 0, graded.output
    assert "little plugin: provides" in graded.output
    assert "4 passed, says the plugin" in graded.output
    assert graded.json["provenance"]["by"] == "little plugin"
    assert graded.json["axes"]["adherence"]["rate"] == 0.75
    assert graded.json["axes"]["quality"] == {"rate": 0.5, "points": 5.0, "most": 10, "not_measured": []}
    assert graded.json["sections"] == {"little": {"passed": 4}}
    assert json.loads((grader.path / "published.json").read_text()) == ["scored", ["little"]]


def test_a_hook_that_fails_at_the_end_is_invalid_not_a_low_score(grader: Grader, way: list[str]) -> None:
    root = grader.suite()
    (root / "conftest.py").write_text("def pytest_lendbench_report(result): raise KeyError('a bug')")
    graded = grader.grade(grader.candidate(*PERFECT), *way)
    assert (graded.status, graded.json["status"], graded.json["total"]) == (10, "invalid", None)
    assert "KeyError: 'a bug'" in graded.json["invalid"]["what"]
    assert "Traceback" in graded.json["invalid"]["details"]


def test_a_result_that_cannot_be_published_is_invalid(grader: Grader) -> None:
    root = grader.suite()
    (root / "conftest.py").write_text("def pytest_lendbench_publish(result): raise OSError('disk full')")
    graded = grader.grade(grader.candidate(*PERFECT), "-n0")
    assert graded.status == 10
    assert "disk full" in graded.output
