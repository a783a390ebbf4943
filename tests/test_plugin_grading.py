"""A grading from end to end, in each way in which checks can be distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from gradings import CHECKS, PERFECT, Grader, one_check

if TYPE_CHECKING:
    from pathlib import Path


def test_a_perfect_tree_has_100(grader: Grader, way: list[str]) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate(*PERFECT), *way)
    assert graded.status == 0
    assert graded.json["status"] == "scored"
    assert graded.json["total"] == graded.json["total_exact"] == 100.0
    assert graded.verdicts == dict.fromkeys(("A.one", "A.two", "P.three", "ADV.four"), "passed")
    assert grader.left_behind() == []


def test_what_fails_is_lost_and_explained(grader: Grader, way: list[str]) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate("one", "extra", "leaks"), *way)
    assert graded.status == 1
    assert graded.json["status"] == "scored"
    assert graded.verdicts == {"A.one": "passed", "A.two": "failed", "P.three": "failed", "ADV.four": "failed"}
    assert graded.check("A.two")["message"].startswith("there is no file two")
    assert graded.check("A.two")["evidence"] == ["the files are ['extra', 'leaks', 'one']"]
    assert graded.json["axes"]["completion"]["points"] == pytest.approx(55 * 1 / 1.25)
    assert graded.json["axes"]["adherence"]["points"] == 11.25
    assert "there is no file two" in (grader.path / "lendbench-evidence" / "A.two.txt").read_text()
    assert grader.left_behind() == []


def test_an_advisory_costs_nothing(grader: Grader) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate("one", "two", "three"), "-n0")
    assert (graded.status, graded.json["total"]) == (0, 100.0)
    assert graded.verdicts["ADV.four"] == "failed"
    assert not (grader.path / "lendbench-evidence").exists()


def test_nothing_is_written_but_what_was_asked_for(grader: Grader, way: list[str]) -> None:
    root = grader.suite()
    tree = grader.candidate(*PERFECT)
    before = {path for path in grader.path.rglob("*") if "__pycache__" not in path.parts}
    grader.grade(tree, *way)
    after = {path for path in grader.path.rglob("*") if "__pycache__" not in path.parts}
    assert after - before == {grader.json}
    assert not (root / ".pytest_cache").exists()


def test_a_gate_that_fails_is_a_score_of_0(grader: Grader, way: list[str]) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate(*PERFECT, "type-error"), *way)
    assert graded.status == 1
    assert (graded.json["status"], graded.json["total"], graded.json["blocked_by_gate"]) == ("scored", 0.0, True)
    assert set(graded.verdicts.values()) == {"not-run"}
    assert graded.json["gate"]["output"] == "src/a.ts(1,1): error TS2322"
    assert "error TS2322" in graded.output
    assert grader.left_behind() == []


@pytest.mark.parametrize(
    ("fault", "what", "todo"),
    [
        ("refused", "The tree has a link.", "Take it out."),
        ("no-disk", "The disk is full.", "Free some space."),
        ("bug", "The tree could not be provided: ZeroDivisionError: a bug of the bench", "fault of the grader"),
    ],
)
def test_a_tree_that_cannot_be_provided_is_invalid(
    grader: Grader, way: list[str], fault: str, what: str, todo: str
) -> None:
    grader.suite(one_check("(tree / 'ran').touch()"))
    tree = grader.candidate(fault)
    graded = grader.grade(tree, *way)
    assert graded.status == 10
    assert graded.json["status"] == "invalid"
    assert graded.json["total"] is graded.json["axes"] is None
    assert what in graded.json["invalid"]["what"]
    assert todo in graded.json["invalid"]["todo"]
    assert graded.verdicts == {"A.one": "not-run"}
    assert not (tree / "ran").exists()
    assert grader.left_behind() == []


@pytest.mark.parametrize("catalog", [None, "= 3", CHECKS])
def test_a_catalog_that_cannot_be_used_is_invalid(grader: Grader, way: list[str], catalog: str | None) -> None:
    root = grader.suite(catalog=False)
    if catalog is not None:
        (root / "checks" / "catalog.toml").write_text(catalog)
    graded = grader.grade(grader.candidate(*PERFECT), *way)
    assert (graded.status, graded.json["status"]) == (10, "invalid")
    assert "catalog.toml cannot be used" in graded.json["invalid"]["what"]
    assert "lendbench checks --write" in graded.json["invalid"]["todo"]


def test_a_check_that_vanished_is_invalid(grader: Grader, way: list[str]) -> None:
    root = grader.suite()
    (root / "checks" / "test_checks.py").write_text(CHECKS.split("@pytest.mark.probe")[0])
    graded = grader.grade(grader.candidate(*PERFECT), *way)
    assert (graded.status, graded.json["status"]) == (10, "invalid")
    assert "Never reported: P.three, ADV.four." in graded.json["invalid"]["what"]
    assert graded.verdicts["P.three"] == "not-run"


@pytest.mark.parametrize(
    "selection",
    [["-k", "A.one"], ["-m", "check(tier=0)"], ["suite/checks/test_checks.py::test_there_is_a_file_one"]],
    ids=["keyword", "marker", "node id"],
)
def test_a_selection_has_no_total(grader: Grader, way: list[str], selection: list[str]) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate("one"), *way, *selection)
    assert graded.status == 0
    assert graded.json["status"] == "partial"
    assert graded.json["total"] is None
    assert graded.verdicts == {"A.one": "passed", "A.two": "not-run", "P.three": "not-run", "ADV.four": "not-run"}


def test_a_selection_that_fails_exits_with_1(grader: Grader) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate(), "-n0", "-k", "A.one")
    assert (graded.status, graded.json["status"]) == (1, "partial")


def test_a_selection_of_nothing_is_pytests_own_status(grader: Grader, way: list[str]) -> None:
    grader.suite()
    assert grader.grade(grader.candidate(), *way, "-k", "Z.nothing").status == 5


@pytest.mark.parametrize(("least", "status"), [("64", 0), ("65", 1)])
def test_min_score_decides_alone(grader: Grader, least: str, status: int) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate("one", "extra"), "-n0", f"--min-score={least}")
    assert graded.json["total"] == 64.1
    assert graded.status == status


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--candidate=missing"], "there is no directory 'missing'"),
        (["--candidate="], "there is no directory ''"),
        (["--min-score=101"], "from 0 to 100"),
        (["--min-score=nan"], "from 0 to 100"),
        (["--min-score=50", "-k", "A.one"], "a selection of checks has none"),
        (["--score-json=nowhere/score.json"], "cannot be written"),
        (["--score-json=candidate"], "cannot be written"),
        (["--evidence=candidate/one"], "is not a directory"),
        (["candidate/test_x.py"], "is a part of the candidate"),
    ],
)
def test_a_wrong_request_is_refused_before_any_work(
    grader: Grader, way: list[str], words: list[str], message: str
) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate("one", "bug"), *way, *words)
    assert graded.status == 4
    assert message in graded.output
    assert graded.json is None
    assert grader.left_behind() == []


def test_a_tree_of_another_project_is_a_wrong_request(grader: Grader, way: list[str]) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate("not-ours"), *way)
    assert (graded.status, graded.json) == (4, None)
    assert "It is not a tree of this app." in graded.output
    assert grader.left_behind() == []


def test_an_old_result_does_not_outlive_the_start_of_a_grading(grader: Grader) -> None:
    grader.suite()
    grader.json.write_text('{"status": "scored"}')
    interrupted = grader.run(f"--candidate={grader.candidate('interrupt')}")
    assert (interrupted.status, interrupted.json) == (2, None)
    assert grader.left_behind() == []


def test_verbose_brings_pytests_own_words(grader: Grader, way: list[str]) -> None:
    grader.suite()
    tree = grader.candidate("one")
    assert "FAILURES" not in grader.grade(tree, *way).output
    verbose = grader.grade(tree, *way, "-v").output
    assert "FAILURES" in verbose
    assert verbose.index("FAILURES") < verbose.index("Lending Desk Bench")


def test_without_a_terminal_there_is_the_json(grader: Grader, way: list[str]) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate(*PERFECT), *way, "-p", "no:terminal")
    assert (graded.status, graded.json["total"], graded.output.strip()) == (0, 100.0, "")


def test_a_stop_at_the_first_failure_has_no_total(grader: Grader, way: list[str]) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate(), *way, "-x")
    assert (graded.status, graded.json["status"], graded.json["total"]) == (1, "partial", None)
    assert "failed" in graded.verdicts.values()


def test_without_a_candidate_the_plugin_is_inert(grader: Grader) -> None:
    grader.pytester.makepyfile("def test_own(pytestconfig): assert not pytestconfig.option.candidate")
    result = grader.pytester.runpytest_inprocess("-p", "no:playwright", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    assert "Lending Desk" not in result.stdout.str()


def test_collecting_only_grades_nothing(grader: Grader, way: list[str]) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate("bug"), *way, "--collect-only")
    assert graded.status == 0
    assert graded.json is None


def test_evidence_of_an_earlier_grading_is_taken_away(grader: Grader, tmp_path: Path) -> None:
    grader.suite()
    words = ("-n0", f"--evidence={tmp_path / 'seen'}")
    tree = grader.candidate("one")
    grader.grade(tree, *words)
    (tree / "two").write_text("")
    (tmp_path / "seen" / "mine.txt").write_text("")
    grader.grade(tree, *words)
    assert sorted(path.name for path in (tmp_path / "seen").iterdir()) == ["P.three.txt", "mine.txt"]
