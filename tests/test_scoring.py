"""The score, against the formula of the design."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.rules.checks import CheckSpec
from pytest_lendbench.rules.ledger import VERDICTS, Entry
from pytest_lendbench.rules.scoring import Measures, score

if TYPE_CHECKING:
    from random import Random

PASSED_GATE = Measures(gate_passed=True, violated_classes=0)


def entry(kind: str, tier: int | None, verdict: str, weight: float = 1, name: str = "x") -> Entry:
    domain = {"check": "A", "probe": "P", "advisory": "ADV"}[kind]
    spec = "A.1" if kind == "check" else ""
    return Entry(CheckSpec(f"{domain}.{name}", kind, domain, tier, weight, spec, "why", "title"), verdict)  # type: ignore[arg-type]


ANY_VERDICT = st.sampled_from(VERDICTS)


@st.composite
def entries(draw: st.DrawFn, verdict: st.SearchStrategy[str] = ANY_VERDICT) -> list[Entry]:
    kinds = st.one_of(
        st.tuples(st.just("check"), st.sampled_from([0, 1, 2])),
        st.tuples(st.just("probe"), st.sampled_from([1, 2])),
        st.tuples(st.just("advisory"), st.none()),
    )
    weight = st.sampled_from([0.25, 0.1, 0.3, 1, 2.5])
    drawn = draw(st.lists(st.tuples(kinds, verdict, weight), min_size=1, max_size=30))
    return [entry(kind, tier, said, points, f"n{index}") for index, ((kind, tier), said, points) in enumerate(drawn)]


measures = st.builds(
    Measures,
    gate_passed=st.just(True),
    violated_classes=st.integers(0, 3),
    closeout=st.none() | st.fractions(0, 1),
    penalty=st.none() | st.fractions(0, 100),
)


def by_the_formula(entries: list[Entry], measures: Measures) -> Fraction:
    """Section 6 of the design, written down a second time."""
    passed = [one for one in entries if one.verdict == "passed"]

    def scale(rate: Fraction) -> Fraction:
        return min(Fraction(1), rate * 10 / 9)

    def rate(tier: int) -> Fraction:
        there, won = (
            sum(one.spec.kind == "check" and one.spec.tier == tier for one in group) for group in (entries, passed)
        )
        return Fraction(won, there) if there else Fraction(1)

    credit = {0: Fraction(1), 1: scale(rate(0)), 2: scale(rate(0)) * scale(rate(1))}

    def share(kind: str) -> Fraction:
        whole = sum(Fraction(one.spec.weight) for one in entries if one.spec.kind == kind)
        won = sum(
            (Fraction(one.spec.weight) * credit[one.spec.tier or 0] for one in passed if one.spec.kind == kind),
            Fraction(0),
        )
        return won / whole if whole else Fraction(1)

    closeout = Fraction(1) if measures.closeout is None else measures.closeout
    penalty = Fraction(0) if measures.penalty is None else measures.penalty
    adherence = max(Fraction(0), 1 - Fraction(measures.violated_classes) / 2) / 2 + closeout / 2
    quality = scale(share("check")) * max(Fraction(0), 1 - penalty / 30)
    return 55 * share("check") + 20 * share("probe") + 15 * adherence + 10 * quality


@given(entries(), measures)
def test_the_score_is_the_formulas(drawn: list[Entry], measured: Measures) -> None:
    found, wanted = score(drawn, measured), by_the_formula(drawn, measured)
    assert found.exact == wanted
    assert 0 <= found.exact <= 100
    assert abs(Fraction(found.total) - wanted) <= Fraction("0.05") + Fraction(1, 10**9)
    assert found.total == round(found.total, 1)


@given(entries(), measures, st.randoms(use_true_random=False))
def test_the_order_of_the_checks_does_not_matter(drawn: list[Entry], measured: Measures, random: Random) -> None:
    shuffled = random.sample(drawn, len(drawn))
    assert score(shuffled, measured) == score(drawn, measured)


@given(entries(), measures, st.data())
def test_one_more_passed_check_never_costs_anything(
    drawn: list[Entry], measured: Measures, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(drawn) - 1))
    better = [replace(one, verdict="passed") if at == index else one for at, one in enumerate(drawn)]
    assert score(better, measured).exact >= score(drawn, measured).exact
    assert score(better, measured).total >= score(drawn, measured).total


@given(entries(), measures, st.data())
def test_what_did_not_pass_earns_nothing_whatever_the_reason(
    drawn: list[Entry], measured: Measures, data: st.DataObject
) -> None:
    others = st.sampled_from([verdict for verdict in VERDICTS if verdict != "passed"])
    renamed = [one if one.verdict == "passed" else replace(one, verdict=data.draw(others)) for one in drawn]
    assert score(renamed, measured) == score(drawn, measured)


@given(entries(), measures, st.integers(0, 3))
def test_one_more_violated_class_never_earns_anything(drawn: list[Entry], measured: Measures, more: int) -> None:
    worse = replace(measured, violated_classes=measured.violated_classes + more)
    assert score(drawn, worse).exact <= score(drawn, measured).exact


@given(entries(), measures, st.lists(st.fractions(0, 1), min_size=2, max_size=2).map(sorted))
def test_a_better_closeout_always_earns_more(drawn: list[Entry], measured: Measures, shares: list[Fraction]) -> None:
    worse, better = (score(drawn, replace(measured, closeout=share)).exact for share in shares)
    assert better - worse == (shares[1] - shares[0]) * Fraction(15, 2)


@given(entries(), measures, st.lists(st.fractions(0, 100), min_size=2, max_size=2).map(sorted))
def test_a_larger_penalty_never_earns_anything(drawn: list[Entry], measured: Measures, sums: list[Fraction]) -> None:
    better, worse = (score(drawn, replace(measured, penalty=penalty)).exact for penalty in sums)
    assert 0 <= better - worse <= 10


@given(entries(), st.fractions(30, 1000))
def test_a_penalty_of_30_or_more_leaves_nothing_of_quality(drawn: list[Entry], penalty: Fraction) -> None:
    assert score(drawn, replace(PASSED_GATE, penalty=penalty)).axes[3].points == 0


@given(entries(verdict=st.just("passed")))
def test_a_perfect_tree_has_exactly_100(drawn: list[Entry]) -> None:
    found = score(drawn, PASSED_GATE)
    assert found.exact == 100
    assert found.total == 100.0


@given(entries(), measures)
def test_a_tree_that_the_gate_stopped_has_nothing(drawn: list[Entry], measured: Measures) -> None:
    found = score(drawn, replace(measured, gate_passed=False))
    assert found.exact == 0
    assert found.blocked_by_gate
    assert [axis.points for axis in found.axes] == [0, 0, 0, 0]


@given(entries(), measures)
def test_advisories_count_for_nothing(drawn: list[Entry], measured: Measures) -> None:
    scored = [one for one in drawn if one.spec.scored]
    assert score(drawn, measured) == score(scored, measured)


def test_light_checks_gate_like_heavy_ones() -> None:
    light = [entry("check", 0, "failed", 0.25), entry("check", 0, "passed", 0.25), entry("check", 1, "passed")]
    found = score(light, PASSED_GATE)
    assert found.tiers[1].scale == Fraction(5, 9)


def test_what_is_not_measured_counts_in_full_and_says_so() -> None:
    completion, probes, adherence, quality = score([entry("check", 0, "passed")], PASSED_GATE).axes
    assert [axis.not_measured for axis in (completion, probes, adherence, quality)] == [
        (),
        (),
        ("closeout",),
        ("penalty",),
    ]
    assert [axis.points for axis in (adherence, quality)] == [15, 10]


def test_a_tree_that_works_by_half_has_no_full_quality() -> None:
    half = [entry("check", 0, "passed"), entry("check", 0, "failed")]
    quality = score(half, PASSED_GATE).axes[3]
    assert quality.rate == Fraction(5, 9)


@pytest.mark.parametrize(("classes", "points"), [(0, 15.0), (1, 11.25), (2, 7.5), (3, 7.5)])
def test_each_violated_class_of_the_contract_costs_once(classes: int, points: float) -> None:
    found = score([entry("check", 0, "passed")], Measures(gate_passed=True, violated_classes=classes))
    assert found.axes[2].points == points
