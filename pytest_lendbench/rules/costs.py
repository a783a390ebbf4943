"""What each thing cost: by how many points the total would be higher, had that one thing alone been right."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from pytest_lendbench.rules.closeout import Closeout
from pytest_lendbench.rules.ledger import Entry
from pytest_lendbench.rules.quality import Quality
from pytest_lendbench.rules.scoring import Measures, Score, score


@dataclass(frozen=True)
class Costs:
    """Points of 100, each thing by itself. They do not add up: a tier counts by what passed in those before it.

    Attributes:
        checks: By id, of each scored check that did not pass.
        contract: Of one violated class of the contract being kept.
        closeout: Of each broken rule of the closeout, by its name.
        findings: Of each finding of the analysis, in its order.
    """

    checks: Mapping[str, Fraction]
    contract: Fraction
    closeout: Mapping[str, Fraction]
    findings: tuple[Fraction, ...]


def costs(
    entries: Iterable[Entry], measures: Measures, closeout: Closeout | None, quality: Quality | None, found: Score
) -> Costs | None:
    """The costs in a grading whose score is `found`; `None` where they can't be said.

    They can't for a tree that the gate stopped, and where something else than `score` has made the score.
    """
    entries = list(entries)
    if found.blocked_by_gate or score(entries, measures).exact != found.exact:
        return None

    def gained(now: list[Entry], then: Measures) -> Fraction:
        return score(now, then).exact - found.exact

    lost = [entry.spec.id for entry in entries if entry.spec.scored and entry.verdict != "passed"]
    checks = {name: gained(_passed(entries, {name}), measures) for name in lost}
    kept = replace(measures, violated_classes=max(0, measures.violated_classes - 1))
    broken = [rule for rule in closeout.rules if not rule.held] if closeout else []
    held = {
        rule.name: gained(entries, replace(measures, closeout=_mended(closeout, rule.name)))
        for rule in broken
        if closeout is not None and closeout.ticked  # with nothing ticked no single rule gains anything
    }
    penalty = measures.penalty or Fraction(0)
    above = quality.above if quality else ()
    by_weight = {
        weight: gained(entries, replace(measures, penalty=penalty - weight)) for weight in {one.weight for one in above}
    }
    findings = tuple(by_weight[one.weight] for one in above)
    return Costs(checks, gained(entries, kept), held, findings)


def together(entries: Iterable[Entry], measures: Measures, names: Collection[str]) -> Fraction:
    """By how many points the total would be higher, had all of these checks passed."""
    entries = list(entries)
    return score(_passed(entries, names), measures).exact - score(entries, measures).exact


def _passed(entries: Iterable[Entry], names: Collection[str]) -> list[Entry]:
    return [replace(entry, verdict="passed") if entry.spec.id in names else entry for entry in entries]


def _mended(closeout: Closeout, name: str) -> Fraction:
    rules = tuple(replace(rule, broken="") if rule.name == name else rule for rule in closeout.rules)
    return replace(closeout, rules=rules).share
