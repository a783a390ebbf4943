"""The penalty: what is above the reference, and what it costs."""

import json
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.rules.quality import CATEGORIES, SEVERITIES, Diagnostic, Quality, above, counted

WEIGHTS = {"Security": 2.0, "Bugs": 1.5, "Performance": 1.0, "Accessibility": 1.0, "Maintainability": 0.5}

diagnostics = st.builds(
    Diagnostic,
    rule=st.sampled_from(["signal/explicit-any", "react-doctor/button-has-type", "react-doctor/no-secret"]),
    category=st.sampled_from(sorted(WEIGHTS)),
    severity=st.sampled_from(["error", "warning"]),
    file=st.sampled_from(["src/items/lending.ts", "src/items/filters.ts", "src/app/items/page.tsx"]),
    line=st.integers(0, 5),
    message=st.sampled_from(["This is any.", "A button has no type."]),
    source=st.sampled_from(["", "let a: any;"]),
)
trees = st.lists(diagnostics, max_size=20)
randoms = st.randoms(use_true_random=False)

ONE = Diagnostic("signal/explicit-any", "Maintainability", "warning", "src/items/lending.ts", 3, "This is any.")


def naive_penalty(found, reference):
    """For each rule and file: as many as the reference has are free, and those that cost most are."""
    costs, free = defaultdict(list), defaultdict(int)
    for one in found:
        costs[one.rule, one.file].append(WEIGHTS[one.category] * (3 if one.severity == "error" else 1))
    for one in reference:
        free[one.rule, one.file] += 1
    return sum(sum(sorted(each, reverse=True)[free[place] :]) for place, each in costs.items())


@pytest.mark.parametrize(("category", "severity"), [*product(WEIGHTS, ["error", "warning"])])
def test_the_weights_are_the_designs(category, severity):
    one = replace(ONE, category=category, severity=severity)
    assert float(one.weight) == WEIGHTS[category] * {"error": 3, "warning": 1}[severity]
    assert above([one], {}).penalty == one.weight


def test_there_are_no_other_categories_or_severities():
    assert set(CATEGORIES) == set(WEIGHTS)
    assert set(SEVERITIES) == {"error", "warning"}


@given(trees, trees)
def test_the_penalty_is_that_of_what_is_above_by_rule_and_file(found, reference):
    quality = above(found, counted(reference))
    assert quality.penalty == naive_penalty(found, reference)
    assert isinstance(quality.penalty, Fraction)


@given(trees, trees)
def test_what_is_above_was_found_and_is_as_much_as_is_more(found, reference):
    left = list(found)
    quality = above(found, counted(reference))
    for one in quality.above:
        left.remove(one)
    more = counted(found) - counted(reference)
    assert counted(quality.above) == more


@given(trees)
def test_the_reference_itself_has_no_penalty(reference):
    assert above(reference, counted(reference)) == Quality(())
    assert above([], counted(reference)) == Quality(())


@given(trees, trees, st.data())
def test_another_line_or_message_never_changes_the_penalty(found, reference, data):
    lines, messages = st.integers(0, 1000), st.text(max_size=5)
    moved = [
        replace(one, line=data.draw(lines), message=data.draw(messages), source=data.draw(messages)) for one in found
    ]
    assert above(moved, counted(reference)).penalty == above(found, counted(reference)).penalty


@given(trees, trees, randoms)
def test_the_order_does_not_matter(found, reference, random):
    shuffled = [random.sample(part, len(part)) for part in (found, reference)]
    assert above(shuffled[0], counted(shuffled[1])) == above(found, counted(reference))


@pytest.mark.parametrize("other", [{"source": "let b: any;"}, {"message": "Any."}, {"rule": "signal/a"}, {"line": 4}])
def test_nor_does_it_between_two_that_cost_the_same(other):
    one, two = ONE, replace(ONE, **other)
    assert above([one, two], {}) == above([two, one], {})
    assert above([one, two], counted([one])) == above([two, one], counted([one]))


@given(trees, trees, diagnostics)
def test_one_more_finding_never_earns_anything(found, reference, more):
    assert above([*found, more], counted(reference)).penalty >= above(found, counted(reference)).penalty
    assert above(found, counted([*reference, more])).penalty <= above(found, counted(reference)).penalty


def test_the_same_finding_in_another_file_counts():
    baseline = counted([ONE])
    moved = replace(ONE, file="src/items/filters.ts")
    assert above([moved], baseline).above == (moved,)
    assert above([replace(ONE, rule="signal/non-null")], baseline).penalty == Fraction(1, 2)


def test_a_second_finding_in_the_same_file_counts_once():
    second = replace(ONE, line=9)
    assert above([second, ONE], counted([ONE])).above == (second,)


@given(trees)
def test_the_heaviest_are_shown_first(found):
    weights = [one.weight for one in above(found, {}).above]
    assert weights == sorted(weights, reverse=True)


@given(trees, trees)
def test_a_quality_survives_json(found, reference):
    quality = above(found, counted(reference))
    data = json.loads(json.dumps(quality.to_json()))
    assert Quality.from_json(data) == quality
    assert data["penalty"] == sum(one["weight"] for one in data["above"]) == quality.penalty


@given(trees, trees)
def test_a_baseline_is_not_used_up(found, reference):
    baseline = counted(reference)
    assert above(found, baseline) == above(found, baseline)
    assert baseline == counted(reference)
