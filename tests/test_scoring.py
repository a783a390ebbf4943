"""The score, against the formula of the design."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.rules.checks import CheckSpec
from pytest_lendbench.rules.ledger import VERDICTS, Entry
from pytest_lendbench.rules.scoring import Measures, score

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
    closeout=st.none() | st.floats(0, 1),
    penalty=st.none() | st.floats(0, 100),
)


def by_the_formula(entries: list[Entry], measures: Measures) -> float:
    """Section 6 of the design, written down a second time, in plain numbers."""

    def scale(rate: float) -> float:
        return min(1.0, rate / 0.9)

    checks = [one for one in entries if one.spec.kind == "check"]
    probes = [one for one in entries if one.spec.kind == "probe"]
    rate = {}
    for tier in (0, 1):
        said = [one.verdict == "passed" for one in checks if one.spec.tier == tier]
        rate[tier] = sum(said) / len(said) if said else 1.0
    by_tier = {0: 1.0, 1: scale(rate[0]), 2: scale(rate[0]) * scale(rate[1])}

    def share(group: list[Entry]) -> float:
        if not group:
            return 1.0
        earned = sum(one.spec.weight * by_tier[one.spec.tier or 0] for one in group if one.verdict == "passed")
        return earned / sum(one.spec.weight for one in group)

    closeout = 1.0 if measures.closeout is None else measures.closeout
    adherence = 0.5 * max(0.0, 1 - 0.5 * measures.violated_classes) + 0.5 * closeout
    quality = scale(share(checks)) * max(0.0, 1 - (measures.penalty or 0.0) / 30)
    return 100 * (0.55 * share(checks) + 0.20 * share(probes) + 0.15 * adherence + 0.10 * quality)


@given(entries(), measures)
def test_the_score_is_the_formulas(drawn: list[Entry], measured: Measures) -> None:
    found = score(drawn, measured)
    assert float(found.exact) == pytest.approx(by_the_formula(drawn, measured), abs=1e-9)
    assert 0 <= found.exact <= 100


@given(entries(), measures, st.data())
def test_one_more_passed_check_never_costs_anything(
    drawn: list[Entry], measured: Measures, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(drawn) - 1))
    better = [replace(one, verdict="passed") if at == index else one for at, one in enumerate(drawn)]
    assert score(better, measured).exact >= score(drawn, measured).exact


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
