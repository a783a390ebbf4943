"""Nothing of a candidate configures or runs in the grader, in whatever form and from wherever it is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from gradings import PERFECT, Grader

if TYPE_CHECKING:
    from pathlib import Path

ATTACK = """
import pathlib
pathlib.Path(__file__).with_name("ran").touch()
raise SystemExit(0)
"""


@pytest.fixture
def tree(grader: Grader) -> Path:
    """A perfect candidate that tries to run code in the grader and to configure it."""
    grader.suite()
    tree = grader.candidate(*PERFECT)
    for name in ("conftest.py", "json.py", "pytest.py", "execnet.py", "test_mine.py", "sitecustomize.py"):
        (tree / name).write_text(ATTACK)
    (tree / "pytest.ini").write_text("[pytest]\naddopts = --nonsense\npython_files = nothing.py\n")
    return tree


@pytest.fixture
def foreign(grader: Grader) -> Path:
    """A directory of another project, with a configuration of its own."""
    directory = grader.path / "foreign"
    directory.mkdir()
    (directory / "pytest.ini").write_text("[pytest]\npython_files = spec_*.py\naddopts = --maxfail=1\n")
    (directory / "conftest.py").write_text("raise SystemExit('the foreign conftest ran')")
    return directory


@pytest.mark.parametrize("form", ["=", " "], ids=["equals sign", "space"])
@pytest.mark.parametrize("place", ["beside", "foreign", "inside"])
def test_both_forms_grade_the_same_from_everywhere(
    grader: Grader, tree: Path, foreign: Path, form: str, place: str
) -> None:
    cwd = {"beside": grader.path, "foreign": foreign, "inside": tree}[place]
    graded = grader.run(*f"--candidate{form}{tree}".split(" "), "-n0", cwd=cwd)
    assert graded.status == 0, graded.output
    assert (graded.json["status"], graded.json["total"]) == ("scored", 100.0)
    assert set(graded.verdicts.values()) == {"passed"}
    assert graded.json["candidate"] == str(tree)
    assert sorted(path.name for path in tree.iterdir() if path.name in {"ran", ".pytest_cache", "__pycache__"}) == []
    assert grader.left_behind() == []


def test_workers_started_inside_a_candidate_do_not_import_from_it(grader: Grader, tree: Path) -> None:
    graded = grader.run("--candidate", ".", "-n2", cwd=tree)
    assert (graded.status, graded.json["total"]) == (0, 100.0), graded.output
    assert not (tree / "ran").exists()


def test_evidence_of_a_grading_inside_a_candidate_lands_beside_it(grader: Grader, tree: Path) -> None:
    (tree / "three").unlink()
    before = sorted(tree.iterdir())
    graded = grader.run("--candidate=.", "-n0", cwd=tree)
    assert graded.json["evidence_dir"] == str(tree.parent / "lendbench-evidence")
    assert sorted(tree.iterdir()) == before


def test_an_ini_of_the_candidate_that_somebody_names_makes_it_invalid(grader: Grader, tree: Path) -> None:
    (tree / "pytest.ini").write_text("[pytest]\n")
    graded = grader.run("-c", tree / "pytest.ini", f"--candidate={tree}", "-n0")
    assert (graded.status, graded.json["status"]) == (10, "invalid")
    assert "a file of the candidate" in graded.json["invalid"]["what"]
    assert set(graded.verdicts.values()) == {"not-run"}


def test_a_selection_survives_the_new_start(grader: Grader, tree: Path) -> None:
    check = "suite/checks/test_checks.py::test_there_is_a_file_one"
    graded = grader.run(check, "--candidate", tree, "-n0")
    assert (graded.status, graded.json["status"]) == (0, "partial")
    assert graded.verdicts["A.one"] == "passed"
    assert graded.verdicts["A.two"] == "not-run"


def test_a_program_that_calls_pytest_is_told_what_to_pass(grader: Grader, tree: Path) -> None:
    graded = grader.grade(tree, f"--rootdir={tree}", "-n0")
    assert graded.status == 4
    assert "which is no part of the grader. Add -c " in graded.output


def test_a_tree_that_holds_the_grader_is_refused(grader: Grader) -> None:
    grader.suite()
    graded = grader.grade(grader.path, "-n0")
    assert graded.status == 4
    assert "holds the grader itself" in graded.output
