"""What each thing cost."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from test_ledger import CATALOG

from pytest_lendbench.rules.closeout import Closeout, Rule
from pytest_lendbench.rules.costs import costs, together
from pytest_lendbench.rules.ledger import Ledger
from pytest_lendbench.rules.quality import Diagnostic, Quality
from pytest_lendbench.rules.scoring import Measures, score

CLOSEOUT = Closeout((Rule("one", "It is so."), Rule("two", "It is so.", "it is not")), 3)
QUALITY = Quality((Diagnostic("rule", "Bugs", "error", "a.ts", 1, "It is wrong."),))
MEASURES = Measures(gate_passed=True, violated_classes=1, closeout=CLOSEOUT.share, penalty=QUALITY.penalty)


def ledger(**verdicts: str) -> Ledger:
    made = Ledger(CATALOG)
    for name, verdict in {"A.one": "passed", "P.two": "passed", **verdicts}.items():
        made.report(name, verdict)  # type: ignore[arg-type]
    return made


def test_each_thing_costs_what_the_total_gains_without_it() -> None:
    lost = ledger(**{"P.two": "failed"})
    found = costs(lost, MEASURES, CLOSEOUT, QUALITY, score(lost, MEASURES))
    assert found is not None
    assert found.checks == {"P.two": 20}
    assert found.contract == Fraction(15, 4)
    assert found.closeout == {"two": Fraction(15, 4)}
    assert found.findings == (Fraction(3, 2),)
    assert together(lost, MEASURES, {"P.two", "A.one"}) == 20


def test_two_things_that_stand_in_each_others_way_cost_more_together() -> None:
    lost = ledger(**{"A.one": "failed", "P.two": "failed"})
    each = [together(lost, MEASURES, {name}) for name in ("A.one", "P.two")]
    assert together(lost, MEASURES, {"A.one", "P.two"}) > sum(each)


def test_where_nothing_is_ticked_no_rule_costs_by_itself() -> None:
    untouched = replace(CLOSEOUT, ticked=0)
    measures = replace(MEASURES, closeout=untouched.share)
    found = costs(ledger(), measures, untouched, None, score(ledger(), measures))
    assert found is not None
    assert found.closeout == {}


def test_a_stopped_tree_or_another_scoring_has_no_costs() -> None:
    stopped = replace(MEASURES, gate_passed=False)
    assert costs(ledger(), stopped, CLOSEOUT, QUALITY, score(ledger(), stopped)) is None
    other = score(ledger(), replace(MEASURES, violated_classes=0))
    assert costs(ledger(), MEASURES, CLOSEOUT, QUALITY, other) is None
