"""The kill matrix on real trees: a sample of it, and going on after an interruption."""

import json

import pytest

from pytest_lendbench.bench.specimen import defects
from pytest_lendbench.faces import kill_page
from pytest_lendbench.matrix import Matrix, write_page, wrong
from pytest_lendbench.rules.errors import UsageProblem
from pytest_lendbench.rules.kills import Outcome, Tree
from pytest_lendbench.suite import default_suite

SAMPLE = 8


@pytest.fixture
def said():
    return []


@pytest.fixture
def matrix(tmp_path, said):
    return Matrix(tmp_path / "store", full=False, say=said.append)


def test_a_sample_of_the_defects_is_caught(matrix):
    # Which they are changes with each change of the grader. `make matrix` tries them all.
    assert wrong(matrix.run(matrix.sample(SAMPLE)), whole=False) == []


def test_a_sample_has_what_was_touched_and_as_many_others(matrix, monkeypatch):
    monkeypatch.setattr("pytest_lendbench.matrix._touched", lambda: {"E.labels", "stale-back"})
    touched = {one.id for one in defects() if "E.labels" in one.caught_by or one.id == "stale-back"}
    drawn = matrix.sample(SAMPLE)
    assert set(drawn[: len(touched)]) == touched
    assert len(drawn) == len(set(drawn)) == len(touched) + SAMPLE


def test_what_is_known_is_not_graded_again(matrix, said):
    first = matrix.run(["type-error"])
    assert matrix.run(["type-error"]) == first
    assert [line.split("  ")[-1] for line in said] == ["type-error: stopped by typecheck"] * 2
    assert ["known" in line for line in said] == [False, True]


def test_in_the_full_one_every_check_is_tried(tmp_path, said):
    [(tree, outcome)] = Matrix(tmp_path / "store", full=True, say=said.append).run(["label-of-maintenance"]).items()
    assert {*outcome.passed, *outcome.failed} == {spec.id for spec in default_suite().read_catalog() if spec.scored}
    assert tree.caught_by <= set(outcome.failed)


def test_there_are_alternates_variants_and_enough_defects(matrix):
    found = defects()
    assert len(found) >= 140
    assert sum(defect.blind for defect in found) >= 40
    assert {"reference", "plain", "plain with variants", "untouched app", "type-error"} <= set(matrix.ids())


def test_every_defect_names_what_catches_it_and_says_how_it_arises():
    scored = {spec.id for spec in default_suite().read_catalog() if spec.scored}
    for defect in defects():
        assert bool(defect.caught_by) != bool(defect.stopped_by), defect.id
        assert defect.caught_by <= scored, defect.id
        assert defect.arises.strip().endswith("."), defect.id


def test_every_check_and_probe_has_a_defect():
    caught = frozenset().union(*(defect.caught_by for defect in defects()))
    assert {spec.id for spec in default_suite().read_catalog() if spec.scored} <= caught


def test_an_unknown_tree_is_named(matrix):
    with pytest.raises(UsageProblem, match="There is no tree nowhere"):
        matrix.run(["nowhere"])


def test_the_page_shows_each_check_with_its_defects(tmp_path):
    tree = Tree("no-label", "defect", frozenset({"E.labels"}))
    outcomes = {
        Tree("reference", "correct"): Outcome("scored", 100.0, 1.0, None, ("E.labels",), ()),
        tree: Outcome("partial", None, None, None, (), ("E.labels",)),
    }
    write_page(outcomes, tmp_path, full=False)
    page = (tmp_path / "kill-matrix.md").read_text()
    assert "| `E.labels` | every control of the check out form has its label | `no-label` |" in page
    assert "| reference | 100.0 | none |" in page
    assert json.loads((tmp_path / "kill-matrix.json").read_text())["kills"] == {"E.labels": ["no-label"]}
    assert kill_page.to_json(outcomes, full=True).startswith('{\n "full": true')
