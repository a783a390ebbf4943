"""The command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from gradings import PERFECT, Grader

from pytest_lendbench import cli
from pytest_lendbench.rules.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Callable

LENDBENCH = str(Path(sys.executable).with_name("lendbench"))


@pytest.fixture
def grade(grader: Grader) -> Callable[..., tuple[int, str]]:
    """`lendbench grade …` with the fake bench."""

    def run(*words: str | Path, cwd: Path | None = None) -> tuple[int, str]:
        argv = [LENDBENCH, "grade", *map(str, words), "-p", "lendbench_fake"]
        done = subprocess.run(argv, cwd=cwd or grader.path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def test_grade_is_pytest_with_the_same_status(grader: Grader, grade: Callable[..., tuple[int, str]]) -> None:
    grader.suite()
    status, output = grade(grader.candidate(*PERFECT))
    assert status == 0, output
    assert "total  100.0 of 100" in output
    assert grade(grader.candidate("one", name="half"), "-n0")[0] == 1
    assert grade(grader.candidate("refused", name="bad"), "-n0")[0] == 10
    assert grade("missing")[0] == 4


def test_nothing_of_the_tree_or_the_directory_configures_it(
    grader: Grader, grade: Callable[..., tuple[int, str]]
) -> None:
    grader.suite()
    tree = grader.candidate(*PERFECT)
    (tree / "pytest.ini").write_text("[pytest]\naddopts = -p evil\npythonpath = .\n")
    for name in ("evil.py", "conftest.py"):
        (tree / name).write_text("import pathlib; pathlib.Path(__file__).with_name('ran').touch()")
    status, output = grade(".", cwd=tree)
    assert status == 0, output
    assert not (tree / "ran").exists()


def test_all_other_words_are_pytests(grader: Grader, grade: Callable[..., tuple[int, str]]) -> None:
    grader.suite()
    status, output = grade(grader.candidate(*PERFECT), "-n0", "-k", "A.one", f"--score-json={grader.json}")
    assert status == 0
    assert "1 of 1 selected checks passed" in output
    assert grader.json.exists()


def test_without_a_path_the_reference_is_graded(grader: Grader, grade: Callable[..., tuple[int, str]]) -> None:
    grader.suite()
    status, output = grade("-k", "A.one", "-n0")
    assert status == 1
    assert "lendbench-specimen-" in output
    assert grader.left_behind() == []


def test_checks_are_listed_without_pytest() -> None:
    program = "import sys; from pytest_lendbench.cli import main; main(['checks']); print('pytest' in sys.modules)"
    listed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    lines = listed.splitlines()
    assert lines[-1] == "False"
    assert any(line.split()[:2] == ["C.parallel-reads", "2"] for line in lines)


def test_write_makes_the_catalog_from_the_markers(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    import lendbench_fake  # noqa: PLC0415

    root = grader.suite(catalog=False)
    monkeypatch.setattr(cli, "default_suite", lendbench_fake.pytest_lendbench_suite)
    modules = dict(sys.modules)
    try:
        assert cli.main(["checks", "--write"]) == 0
    finally:
        sys.modules.clear()
        sys.modules.update(modules)
    written = Catalog.from_text((root / "checks" / "catalog.toml").read_text())
    assert [spec.id for spec in written] == ["A.one", "A.two", "P.three", "ADV.four"]


def test_write_changes_nothing_when_a_check_is_broken(
    grader: Grader, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import lendbench_fake  # noqa: PLC0415

    root = grader.suite("def test_without_markers(): pass", catalog=False)
    monkeypatch.setattr(cli, "default_suite", lendbench_fake.pytest_lendbench_suite)
    assert cli.main(["checks", "--write"]) == 10
    assert "needs one of the markers" in capsys.readouterr().err
    assert not (root / "checks" / "catalog.toml").exists()


def test_unknown_words_are_refused() -> None:
    for words in ([], ["checks", "--nonsense"], ["score"]):
        assert subprocess.run([LENDBENCH, *words], capture_output=True, check=False).returncode == 2


def test_an_unknown_tree_of_the_matrix_is_a_usage_problem(capsys):
    assert cli.main(["matrix", "nowhere"]) == 4
    assert "There is no tree nowhere." in capsys.readouterr().err
