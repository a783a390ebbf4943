"""Gradings of fake candidates by tiny suites: what the tests of the plugin share."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lendbench_fake

from pytest_lendbench.collecting import collect

if TYPE_CHECKING:
    import pytest

    from pytest_lendbench.rules.catalog import Catalog
    from pytest_lendbench.suite import Suite

SPEC = """# A spec

- **A.1** The tree has
  a file `one`.
- **A.2** The tree has a file `two`.
- **B.1** The tree has a file `three`.
"""

CHECKS = """
import pytest

pytestmark = pytest.mark.domain(name="A")


@pytest.mark.check(id="A.one", tier=0, spec="A.1")
def test_there_is_a_file_one(tree):
    assert (tree / "one").exists(), "there is no file one"


@pytest.mark.check(id="A.two", tier=1, spec="A.2")
@pytest.mark.weight(points=0.25)
def test_there_is_a_file_two(tree, record_property):
    record_property("evidence", f"the files are {sorted(path.name for path in tree.iterdir())}")
    assert (tree / "two").exists(), "there is no file two"


@pytest.mark.probe(id="P.three", tier=1, why="A careful engineer leaves a third file.")
def test_there_is_a_file_three(tree):
    assert (tree / "three").exists(), "there is no file three"


@pytest.mark.advisory(id="ADV.four", why="Four is a nice number.")
def test_there_is_a_file_four(tree):
    assert (tree / "four").exists(), "there is no file four"
"""

PERFECT = ("one", "two", "three", "four")


def catalog_of(suite: Suite) -> Catalog:
    """What the markers of a suite say. The modules that collecting has loaded are forgotten."""
    modules, path = dict(sys.modules), list(sys.path)
    try:
        return collect(suite)
    finally:
        sys.modules.clear()
        sys.modules.update(modules)
        sys.path[:] = path


def one_check(body: str, *, arguments: str = "tree", markers: str = "") -> str:
    """The source of a suite whose one check has this body."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return (
        "import os, signal, pytest\n"
        "from pytest_lendbench.rules.errors import CandidateFault, InstrumentError\n\n"
        f"{markers}\n"
        '@pytest.mark.domain(name="A")\n'
        '@pytest.mark.check(id="A.one", tier=0, spec="A.1")\n'
        f"def test_it({arguments}):\n{lines}\n"
    )


@dataclass
class Graded:
    """A grading that has ended: its exit status, its output, and its JSON (`None` if it wrote none)."""

    status: int
    output: str
    json: Any

    @property
    def verdicts(self) -> dict[str, str]:
        return {check["id"]: check["verdict"] for check in self.json["checks"]}

    def check(self, name: str) -> dict[str, Any]:
        return next(check for check in self.json["checks"] if check["id"] == name)


class Grader:
    """Runs gradings with the plugin `lendbench_fake` in a directory of the test's own."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.json = self.path / "out" / "score.json"
        self.temporary = self.path / "tmp"
        for directory in (self.json.parent, self.temporary):
            directory.mkdir()
        monkeypatch.setenv("TMPDIR", str(self.temporary))
        monkeypatch.setattr("tempfile.tempdir", None)
        monkeypatch.setenv("FAKE_SUITE", str(self.path / "suite"))
        monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
        monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def suite(self, checks: str = CHECKS, *, catalog: bool = True, conftest: str = "") -> Path:
        """Writes a suite of one module of checks, and its catalog."""
        root = self.path / "suite"
        (root / "checks").mkdir(parents=True, exist_ok=True)
        (root / "SPEC.md").write_text(SPEC)
        (root / "conftest.py").write_text(conftest)
        (root / "checks" / "test_checks.py").write_text(checks)
        if catalog:
            made = catalog_of(lendbench_fake.pytest_lendbench_suite())
            (root / "checks" / "catalog.toml").write_text(made.to_text())
        return root

    def candidate(self, *files: str, name: str = "candidate") -> Path:
        """Makes a candidate with these files, all empty."""
        tree = self.path / name
        tree.mkdir()
        for file in files:
            (tree / file).write_text("")
        return tree

    def grade(self, candidate: Path, *args: str) -> Graded:
        """A grading in this process; its workers, if it has any, are processes as always."""
        # Playwright refuses to be nested in a test that it serves itself.
        words = ["-p", "lendbench_fake", "-p", "no:playwright", f"--candidate={candidate}"]
        result = self.pytester.runpytest_inprocess(*words, f"--score-json={self.json}", *args)
        return self._graded(int(result.ret), result.stdout.str() + result.stderr.str())

    def start(self, *args: str | Path, cwd: Path | None = None) -> subprocess.Popen[str]:
        """Starts a grading in a process group of its own."""
        # Not `python -m pytest`: that looks for pytest in the current directory first.
        words: list[str | Path] = [
            Path(sys.executable).with_name("pytest"),
            "-p",
            "lendbench_fake",
            f"--score-json={self.json}",
        ]
        return subprocess.Popen(
            [*words, *args],
            cwd=cwd or self.path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            # Where the tests run in the background of a shell, Ctrl-C is ignored, and children inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )

    def finish(self, process: subprocess.Popen[str]) -> Graded:
        """Waits for the end of a grading that was started."""
        output, _ = process.communicate()
        return self._graded(process.returncode, output)

    def run(self, *args: str | Path, cwd: Path | None = None) -> Graded:
        """A whole grading in processes of its own."""
        return self.finish(self.start(*args, cwd=cwd))

    def left_behind(self) -> list[str]:
        """What is left in the directory for temporary files."""
        return sorted(path.name for path in self.temporary.iterdir())

    def _graded(self, status: int, output: str) -> Graded:
        report = json.loads(self.json.read_text()) if self.json.exists() else None
        return Graded(status, output, report)
