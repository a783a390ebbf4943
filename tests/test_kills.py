"""The rules of the kill matrix."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.rules.kills import Outcome, Tree, broken_rules, kills

PERFECT = Outcome("scored", 100.0, 1.0, None, ("A.one", "P.two"), ())
REFERENCE = Tree("reference", "correct")
FLOOR = Tree("untouched app", "floor")
IDS = st.sampled_from(["A.one", "A.two", "P.one", "P.two"])


def failing(*checks):
    return replace(PERFECT, status="partial", total=None, completion=None, failed=checks)


def test_a_proven_suite_breaks_no_rule():
    outcomes = {
        REFERENCE: PERFECT,
        FLOOR: replace(PERFECT, total=15.0, completion=0.01, passed=("A.one",), failed=("P.two",)),
        Tree("one-off", "defect", frozenset({"A.one"})): failing("A.one"),
        Tree("race", "defect", frozenset({"P.two"})): failing("A.one", "P.two"),
        Tree("renamed", "defect", stopped_by="typecheck"): replace(PERFECT, total=0.0, stopped_by="typecheck"),
    }
    assert broken_rules(outcomes, ["A.one", "P.two"], whole=True) == []
    assert kills(outcomes) == {"A.one": ["one-off", "race"], "P.two": ["race"]}


def test_a_correct_tree_loses_nothing():
    for tree in (REFERENCE, Tree("plain with variants", "correct")):
        (said,) = broken_rules({tree: replace(PERFECT, total=99.9, failed=("A.one",))}, [], whole=False)
        assert said == f"{tree.id}: it is correct, but these fail: A.one."
        (said,) = broken_rules({tree: replace(PERFECT, total=99.7)}, [], whole=False)
        assert said == f"{tree.id}: it is correct, but its total is 99.7, not 100."


def test_the_untouched_app_passes_nothing_to_speak_of():
    said = broken_rules({FLOOR: replace(PERFECT, completion=0.02)}, [], whole=False)
    assert [sentence.partition(":")[2].split(",")[0] for sentence in said] == [
        " its completion is 0.02",
        " nothing is built",
    ]


def test_a_defect_is_caught_by_what_it_names():
    def said(tree, outcome):
        return " ".join(broken_rules({tree: outcome}, [], whole=False))

    caught = Tree("race", "defect", frozenset({"P.one", "P.two"}))
    assert said(caught, failing("P.two")) == "race: not caught by P.one."
    assert "names no check" in said(Tree("race", "defect"), failing("P.two"))
    assert "typecheck should stop it; no step" in said(Tree("typo", "defect", stopped_by="typecheck"), PERFECT)
    assert "no step of the gate should stop it; build did" in said(caught, replace(PERFECT, stopped_by="build"))


def test_an_invalid_grading_proves_nothing():
    invalid = replace(PERFECT, status="invalid", total=None, trouble="There is no browser.")
    for tree in (REFERENCE, FLOOR, Tree("race", "defect", frozenset({"P.two"}))):
        (said,) = broken_rules({tree: invalid}, [], whole=False)
        assert said.endswith("the grading is invalid. There is no browser.")


@given(st.lists(st.frozensets(IDS, min_size=1), max_size=5), st.frozensets(IDS))
def test_every_check_needs_a_kill_once_all_trees_are_there(failed, scored):
    outcomes = {Tree(f"d{n}", "defect", ids): failing(*sorted(ids)) for n, ids in enumerate(failed)}
    unkilled = scored.difference(*failed) if failed else scored
    lacking = [f"{check}: no defect makes it fail." for check in sorted(unkilled)]
    assert broken_rules(outcomes, scored, whole=True) == lacking
    assert broken_rules(outcomes, scored, whole=False) == []


@given(st.sampled_from(["scored", "partial", "invalid"]), st.lists(IDS, unique=True), st.text())
def test_an_outcome_survives_json(status, failed, trouble):
    outcome = Outcome(status, None, None, None, (), tuple(failed), trouble)
    assert Outcome.from_json(outcome.to_json()) == outcome


def test_checks_that_always_fail_together_are_one():
    outcomes = {
        Tree("one", "defect", frozenset({"A.one"})): failing("A.one", "A.two"),
        Tree("two", "defect", frozenset({"P.one"})): failing("A.one", "A.two", "P.one"),
    }
    scored = ["A.one", "A.two", "P.one"]
    said = broken_rules(outcomes, scored, whole=True, full=True)
    assert said == ["A.one and A.two fail on the same defects, always."]
    assert broken_rules(outcomes, scored, whole=True) == []
