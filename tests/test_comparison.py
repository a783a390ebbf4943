"""What changed between two gradings."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.faces.comparison import render
from pytest_lendbench.rules.comparison import Findings, Graded, Moved, Said, Turned, compare
from pytest_lendbench.rules.errors import UsageProblem

RULER = {"revision": "r1", "suite": "5e72cf21927c3281", "track": "build"}
ONE = Graded(
    name="a.json",
    status="scored",
    ruler=RULER,
    total=100.0,
    points={"completion": 55.0, "quality": 10.0},
    gate=Said("passed"),
    checks={"A.one": Said("passed"), "P.two": Said("failed", "two loans\nassert …"), "ADV.hook": Said("failed", "no")},
    scored=frozenset({"A.one", "P.two"}),
    contract=frozenset({"added src/x.ts: Added."}),
    closeout={"tasks": Said("held", "Every task stands."), "count": Said("broken", "It is 3.")},
    quality=Counter({"src/a.ts: No any. (signal/any)": 2}),
)
OTHER = replace(
    ONE,
    name="b.json",
    total=90.5,
    points={"completion": 45.5, "quality": 10.0},
    checks={"A.one": Said("failed", "\nthere is no file"), "P.two": Said("passed"), "ADV.hook": Said("passed")},
    contract=frozenset({"export src/y.ts: Deleted."}),
    closeout={"tasks": Said("broken", "T1.1 is gone."), "count": Said("held", "It counts.")},
    quality=Counter({"src/a.ts: No any. (signal/any)": 1}),
)

WORDS = st.sampled_from(["a", "b", "c"])
NUMBERS = st.sampled_from([0.0, 1.5, 2.0])


def said(verdicts):
    return st.builds(Said, st.sampled_from(verdicts), WORDS)


GRADINGS = st.builds(
    Graded,
    name=WORDS,
    status=st.sampled_from(["scored", "partial"]),
    ruler=st.just(RULER),
    total=st.none() | NUMBERS,
    points=st.dictionaries(WORDS, NUMBERS),
    gate=st.none() | said(["passed", "build"]),
    checks=st.dictionaries(WORDS, said(["passed", "failed", "not-run"])).map(lambda one: {"x": Said("passed"), **one}),
    scored=st.frozensets(WORDS),
    contract=st.frozensets(WORDS),
    closeout=st.dictionaries(WORDS, said(["held", "broken"])),
    quality=st.none() | st.lists(WORDS).map(Counter),
)


def text_of(before, after):
    return "\n".join(render(compare(before, after), 79))


@given(GRADINGS)
def test_a_grading_agrees_with_itself(one):
    found = compare(one, one)
    assert found.agree
    assert found.only_once == 0
    assert render(found, 79)[0] == "The two gradings agree."


@given(GRADINGS, GRADINGS)
def test_what_differs_does_not_depend_on_the_order(one, other):
    there, back = compare(one, other), compare(other, one)
    assert there.agree == back.agree
    assert there.only_once == back.only_once
    for name in ("checks", "closeout", "axes"):
        mirrored = {replace(found, before=found.after, after=found.before) for found in getattr(back, name)}
        assert set(getattr(there, name)) == mirrored
    for name in ("contract", "quality"):
        assert getattr(there, name) == Findings(getattr(back, name).new, getattr(back, name).gone)


@given(GRADINGS, GRADINGS)
def test_a_comparison_can_be_shown(one, other):
    assert render(compare(one, other), 79)


def test_everything_that_differs_is_found():
    found = compare(ONE, OTHER)
    assert found.total == Moved("total", 100.0, 90.5)
    assert found.axes == (Moved("completion", 55.0, 45.5),)
    assert [turned.name for turned in found.checks] == ["A.one", "P.two", "ADV.hook"]
    assert found.contract == Findings(gone=("added src/x.ts: Added.",), new=("export src/y.ts: Deleted.",))
    assert found.closeout[0] == Turned("tasks", Said("held", "Every task stands."), Said("broken", "T1.1 is gone."))
    assert found.quality == Findings(gone=("src/a.ts: No any. (signal/any)",))


def test_a_person_reads_the_important_first():
    assert text_of(ONE, OTHER).splitlines() == [
        "total       100.0 →  90.5    -9.50",
        "completion   55.0 →  45.5    -9.50",
        "",
        "1 check fails now:",
        "  A.one",
        "      there is no file",
        "",
        "1 check passes now:",
        "  P.two",
        "      before: two loans",
        "",
        "Not scored:",
        "  ADV.hook  failed → passed",
        "",
        "Contract:",
        "  new: export src/y.ts: Deleted.",
        "  gone: added src/x.ts: Added.",
        "",
        "Closeout:",
        "  broken now: tasks: T1.1 is gone.",
        "  held now: count: It counts.",
        "",
        "Quality:",
        "  gone: src/a.ts: No any. (signal/any)",
    ]


def test_many_findings_are_counted_and_the_heaviest_stand_first():
    many = replace(ONE, quality=Counter({"z: heavy": 3, **{f"file {n}": 1 for n in range(12)}}))
    shown = text_of(replace(ONE, quality=Counter()), many).splitlines()
    assert shown[2:4] == ["  new: z: heavy (3 times)", "  new: file 0"]
    assert shown[-1] == "  new: 3 more"


def test_another_message_of_the_same_verdict_is_no_difference():
    assert compare(ONE, replace(ONE, checks={**ONE.checks, "P.two": Said("failed", "three loans")})).agree


def test_the_gate_is_compared():
    stopped = replace(
        ONE,
        gate=Said("typecheck", "src/a.ts(1,1): error TS2322"),
        total=0.0,
        checks={name: Said("not-run") for name in ONE.checks},
    )
    assert "The typecheck fails:\n    src/a.ts(1,1): error TS2322" in text_of(ONE, stopped)
    assert "passes the gate now; the typecheck had failed." in text_of(stopped, ONE)


def test_of_a_partial_grading_the_common_checks_are_compared():
    part = replace(
        ONE, name="p.json", status="partial", total=None, points={}, checks={**ONE.checks, "A.one": Said("not-run")}
    )
    found = compare(part, ONE)
    assert (found.agree, found.only_once) == (True, 1)
    shown = " ".join(text_of(part, ONE).split())
    assert "p.json is a partial grading and has no total: only the checks that ran in both are compared." in shown
    assert "1 check ran in one of the gradings only." in shown


def test_what_one_has_not_measured_is_not_compared():
    shown = text_of(ONE, replace(ONE, quality=None))
    assert "The two gradings agree." in shown
    assert "The quality was measured in one of the gradings only." in shown


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ruler": {**RULER, "revision": "r2"}}, "the revision of the fixture is not the same, r1 and r2."),
        ({"ruler": {**RULER, "suite": "f" * 64}}, "the grader is not the same, 5e72cf21927c and ffffffffffff."),
        ({"ruler": {"track": "build"}}, "the revision of the fixture is not the same, r1 and none."),
        ({"ruler": {**RULER, "track": "bugfix"}}, "Compare gradings of one track."),
        ({"status": "invalid", "trouble": "No browser."}, "b.json is an invalid grading"),
        ({"checks": {"X.new": Said("passed")}}, "no check ran in both"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_its_reason(changes, message):
    other = replace(ONE, name="b.json", **changes)
    for pair in ((ONE, other), (other, ONE)):
        with pytest.raises(UsageProblem, match=r"Grade|Compare"):
            compare(*pair)
    with pytest.raises(UsageProblem) as refused:
        compare(ONE, other)
    assert message in str(refused.value)
