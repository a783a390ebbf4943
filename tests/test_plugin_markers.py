"""The markers, as a check's author meets them."""

from __future__ import annotations

import re

import pytest
from gradings import CHECKS, PERFECT, Grader


def with_check(markers: str, *, name: str = "test_new") -> str:
    return f"{CHECKS}\n\n{markers}\ndef {name}(tree):\n    pass\n"


@pytest.mark.parametrize(
    ("markers", "words"),
    [
        ("", "needs one of the markers check, probe and advisory, and has none"),
        (
            '@pytest.mark.check(id="A.x", tier=0, spec="A.1")\n@pytest.mark.advisory(id="ADV.x", why="y")',
            "check and advisory",
        ),
        ('@pytest.mark.check("A.x", tier=0, spec="A.1")', "@pytest.mark.check: .*positional"),
        ('@pytest.mark.check(id="A.x", spec="A.1")', "missing 1 required keyword-only argument: 'tier'"),
        ('@pytest.mark.check(id="A.x", tier=0, spec="A.1", colour=3)', "unexpected keyword argument 'colour'"),
        ('@pytest.mark.check(id="A.x", tier=0, spec="")', "The spec has no sentence"),
        ('@pytest.mark.check(id="A.x", tier=0, spec="A.9")', r"A.x: The spec has no sentence A\.9"),
        ('@pytest.mark.check(id="A.x", tier="0", spec="A.1")', "tier of a check is 0 or 1 or 2, not 0"),
        ('@pytest.mark.check(id="A.x", tier=True, spec="A.1")', "wrong type"),
        ('@pytest.mark.check(id=3, tier=0, spec="A.1")', "wrong type"),
        ('@pytest.mark.check(id="B.x", tier=0, spec="A.1")', "must begin with its domain"),
        ('@pytest.mark.check(id="A.one", tier=0, spec="A.1")', "A.one is already that of .*test_there_is_a_file_one"),
        ('@pytest.mark.check(id="A.x", tier=0, spec="A.1")\n@pytest.mark.weight(points=0)', "above 0"),
        ('@pytest.mark.check(id="A.x", tier=0, spec="A.1")\n@pytest.mark.weight(2)', "@pytest.mark.weight: "),
        ('@pytest.mark.probe(id="P.x", tier=0, why="y")', "tier of a probe is 1 or 2"),
        ('@pytest.mark.probe(id="P.x", tier=1, why="")', "say why"),
        ('@pytest.mark.check(id="A.x", tier=0, spec="A.1")', "A.x is not as the catalog has it"),
    ],
)
def test_a_wrong_marker_is_a_collection_error(grader: Grader, markers: str, words: str) -> None:
    root = grader.suite()
    (root / "checks" / "test_checks.py").write_text(with_check(markers))
    graded = grader.grade(grader.candidate(*PERFECT), "-n0")
    assert (graded.status, graded.json["status"]) == (10, "invalid")
    assert "test_checks.py could not be collected" in graded.json["invalid"]["what"]
    assert re.search(words, " ".join(graded.json["invalid"]["details"].split()))


def test_a_changed_marker_must_be_in_the_catalog(grader: Grader, way: list[str]) -> None:
    root = grader.suite()
    (root / "checks" / "test_checks.py").write_text(CHECKS.replace("points=0.25", "points=0.5"))
    graded = grader.grade(grader.candidate(*PERFECT), *way)
    assert (graded.status, graded.json["status"]) == (10, "invalid")
    assert "A.two is not as the catalog has it. Run `lendbench checks --write`" in graded.json["invalid"]["details"]


def test_a_module_that_cannot_be_imported_is_invalid(grader: Grader, way: list[str]) -> None:
    root = grader.suite()
    (root / "checks" / "test_more.py").write_text("import a_module_that_nobody_has")
    graded = grader.grade(grader.candidate(*PERFECT), *way)
    assert (graded.status, graded.json["status"]) == (10, "invalid")
    assert "a_module_that_nobody_has" in graded.json["invalid"]["details"]


def test_pytest_explains_the_markers(grader: Grader) -> None:
    shown = grader.pytester.runpytest_inprocess("--markers", "-p", "no:playwright").stdout.str()
    assert "@pytest.mark.check(*, id: str, tier: int, spec: str)" in shown
    assert "@pytest.mark.weight(*, points: float)" in shown


def test_what_a_check_is_comes_from_its_markers(grader: Grader) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate(*PERFECT), "-n0")
    two, three = graded.check("A.two"), graded.check("P.three")
    wanted = {
        "id": "A.two",
        "kind": "check",
        "domain": "A",
        "tier": 1,
        "weight": 0.25,
        "spec": "A.2",
        "why": "The tree has a file `two`.",
        "title": "there is a file two",
    }
    assert {name: two[name] for name in wanted} == wanted
    assert (three["domain"], three["spec"], three["why"]) == ("P", "", "A careful engineer leaves a third file.")
