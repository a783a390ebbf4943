"""The score. Exact fractions throughout: the number does not depend on the order of anything."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from pytest_lendbench.rules.checks import CheckSpec
from pytest_lendbench.rules.ledger import Entry

AxisName = Literal["completion", "probes", "adherence", "quality"]
AXES: dict[AxisName, int] = {"completion": 55, "probes": 20, "adherence": 15, "quality": 10}
"""The axes and their points."""

TIERS = (0, 1, 2)
ENOUGH = Fraction(9, 10)
"""The share of a tier that must pass for the next one to count in full."""
RUINED = 30
"""The penalty at which nothing of quality is left."""


@dataclass(frozen=True)
class Measures:
    """What goes into a score beside the verdicts.

    Attributes:
        gate_passed: Typecheck and build succeeded.
        violated_classes: How many classes of the contract were violated.
        closeout: Share of the closeout rules that held, 0 to 1; `None` where it is not measured.
        penalty: Of the analysis, 0 or above; `None` where it is not measured.
    """

    gate_passed: bool
    violated_classes: int
    closeout: Fraction | None = None
    penalty: Fraction | None = None


@dataclass(frozen=True)
class Axis:
    """One axis of a score.

    Attributes:
        name: `completion`, `probes`, `adherence` or `quality`.
        rate: 0 to 1.
        most: Its points at rate 1.
        not_measured: The parts of it that count as perfect because nothing has measured them.
    """

    name: AxisName
    rate: Fraction
    not_measured: tuple[str, ...] = ()

    @property
    def most(self) -> int:
        return AXES[self.name]

    @property
    def points(self) -> Fraction:
        return self.rate * self.most


@dataclass(frozen=True)
class Tier:
    """One tier of the completion checks. `scale` is by how much the credit for its passed checks counts."""

    number: int
    passed: int
    checks: int
    scale: Fraction


@dataclass(frozen=True)
class Score:
    """A score out of 100. `exact` is the unrounded one; a tree the gate stopped has 0."""

    axes: tuple[Axis, ...]
    tiers: tuple[Tier, ...]
    blocked_by_gate: bool

    @property
    def exact(self) -> Fraction:
        return sum((axis.points for axis in self.axes), Fraction(0))

    @property
    def total(self) -> float:
        """To one decimal."""
        return float(round(self.exact, 1))


def score(entries: Iterable[Entry], measures: Measures) -> Score:
    """The score of a ledger. Whether every check has run is not asked here; what did not pass earns nothing."""
    entries = list(entries)
    if not measures.gate_passed:
        nothing = tuple(Axis(name, Fraction(0)) for name in AXES)
        counts = (_count(entries, number) for number in TIERS)
        return Score(nothing, tuple(Tier(n, 0, checks, Fraction(0)) for n, (_, checks) in enumerate(counts)), True)

    tiers: list[Tier] = []
    scale = Fraction(1)
    for number in TIERS:
        passed, checks = _count(entries, number)
        tiers.append(Tier(number, passed, checks, scale))
        scale *= scaled(Fraction(passed, checks) if checks else Fraction(1))
    scales = [tier.scale for tier in tiers]
    completion = _rate(entries, scales, lambda spec: spec.kind == "check")
    probes = _rate(entries, scales, lambda spec: spec.kind == "probe")
    contract = max(Fraction(0), 1 - Fraction(measures.violated_classes, 2))
    closeout = Fraction(1) if measures.closeout is None else measures.closeout
    penalty = measures.penalty or Fraction(0)
    quality = scaled(completion) * max(Fraction(0), 1 - penalty / RUINED)
    return Score(
        axes=(
            Axis("completion", completion),
            Axis("probes", probes),
            Axis("adherence", (contract + closeout) / 2, ("closeout",) if measures.closeout is None else ()),
            Axis("quality", quality, ("penalty",) if measures.penalty is None else ()),
        ),
        tiers=tuple(tiers),
        blocked_by_gate=False,
    )


def scaled(rate: Fraction) -> Fraction:
    """`rate` of `ENOUGH`, at most 1."""
    return min(Fraction(1), rate / ENOUGH)


def _count(entries: list[Entry], tier: int) -> tuple[int, int]:
    """How many completion checks of a tier passed, of how many. By count: light ones gate like all others."""
    verdicts = [entry.verdict for entry in entries if entry.spec.kind == "check" and entry.spec.tier == tier]
    return verdicts.count("passed"), len(verdicts)


def _rate(entries: list[Entry], scales: list[Fraction], belongs: Callable[[CheckSpec], bool]) -> Fraction:
    """Σ (passed weight · its tier's scale) / Σ weight; 1 where nothing belongs."""
    earned = whole = Fraction(0)
    for entry in entries:
        if belongs(entry.spec):
            weight = Fraction(entry.spec.weight)
            whole += weight
            if entry.verdict == "passed":
                earned += weight * scales[entry.spec.tier or 0]
    return earned / whole if whole else Fraction(1)
