"""The penalty: what an analyzer and the compiler find in a tree, above what they find in the reference."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, dataclass
from fractions import Fraction
from typing import Any, Self

CATEGORIES = {
    "Security": Fraction(2),
    "Bugs": Fraction(3, 2),
    "Performance": Fraction(1),
    "Accessibility": Fraction(1),
    "Maintainability": Fraction(1, 2),
}
SEVERITIES = {"error": 3, "warning": 1}


@dataclass(frozen=True)
class Diagnostic:
    """One finding.

    Attributes:
        rule: Such as `react-doctor/button-has-type` or `signal/explicit-any`.
        category: A key of `CATEGORIES`.
        severity: A key of `SEVERITIES`.
        file: Relative to the app's root.
        line: From 1; 0 if it is about the whole file.
        message: What is wrong, in a sentence.
        source: That line, if there is one.
    """

    rule: str
    category: str
    severity: str
    file: str
    line: int
    message: str
    source: str = ""

    @property
    def weight(self) -> Fraction:
        """What it costs of the 30 at which nothing of quality is left."""
        return CATEGORIES[self.category] * SEVERITIES[self.severity]


@dataclass(frozen=True)
class Quality:
    """What was found above the baseline, the heaviest first."""

    above: tuple[Diagnostic, ...]

    @property
    def penalty(self) -> Fraction:
        return sum((diagnostic.weight for diagnostic in self.above), Fraction(0))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; `from_json` reads it."""
        return {
            "penalty": float(self.penalty),
            "above": [{**asdict(one), "weight": float(one.weight)} for one in self.above],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The quality that `to_json` wrote."""
        return cls(tuple(Diagnostic(**{k: v for k, v in one.items() if k != "weight"}) for one in data["above"]))


Baseline = Mapping[tuple[str, str], int]
"""How often each rule is broken in each file of the reference."""


def counted(diagnostics: Iterable[Diagnostic]) -> Baseline:
    """The baseline that these diagnostics of the reference make."""
    return Counter((one.rule, one.file) for one in diagnostics)


def above(diagnostics: Iterable[Diagnostic], baseline: Baseline) -> Quality:
    """What is above the baseline, by multiset of rule and file: of several the last ones in the file, the lightest."""
    left = Counter(baseline)
    found = []
    # By all that it says: the order in which an analyzer prints is none.
    for one in sorted(diagnostics, key=lambda one: (-one.weight, one.file, one.line, *astuple(one))):
        if left[one.rule, one.file] > 0:
            left[one.rule, one.file] -= 1
        else:
            found.append(one)
    return Quality(tuple(found))
