"""What changed between two gradings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from pytest_lendbench.rules.contract import LABELS
from pytest_lendbench.rules.errors import UsageProblem
from pytest_lendbench.rules.ledger import VERDICTS

_PARTS = {
    "revision": "revision of the fixture",
    "suite": "state of the checks and the grader",
    "baseline": "baseline of the quality",
    "catalog": "catalog of checks",
    "track": "track",
}
_STATUSES = ("scored", "partial", "invalid")


@dataclass(frozen=True)
class Said:
    """What a grading says of one thing: a check, a rule of the closeout or the gate.

    Attributes:
        verdict: A check's verdict; `held` or `broken`; `passed` or the step of the gate that failed.
        why: The reason, if it isn't a good verdict.
    """

    verdict: str
    why: str = ""


@dataclass(frozen=True)
class Graded:
    """A finished grading, as far as it can be compared.

    Attributes:
        name: What to call it in a message, such as its file.
        status: `scored`, `partial` or `invalid`.
        trouble: Why it is invalid; empty if it isn't.
        ruler: All that a verdict depends on beside the tree, by part. Unknown parts are left out.
        total: Out of 100, unrounded; `None` unless it is `scored`.
        points: By axis; empty unless it is `scored`.
        gate: What the gate says; `None` if it was not reached.
        checks: By id, in the catalog's order.
        scored: The ids that count; the others are advisories.
        contract: The findings as sentences.
        exports_compared: Whether the findings on exports are all there are.
        closeout: By rule; empty where it isn't measured.
        quality: The findings as sentences, the heaviest first, and how often each was made; `None` where it isn't
            measured.
    """

    name: str
    status: str
    trouble: str = ""
    ruler: Mapping[str, str] = field(default_factory=dict)
    total: float | None = None
    points: Mapping[str, float] = field(default_factory=dict)
    gate: Said | None = None
    checks: Mapping[str, Said] = field(default_factory=dict)
    scored: frozenset[str] = frozenset()
    contract: frozenset[str] = frozenset()
    exports_compared: bool = True
    closeout: Mapping[str, Said] = field(default_factory=dict)
    quality: Counter[str] | None = None

    @classmethod
    def from_report(cls, report: Mapping[str, Any], name: str) -> Self:
        """Takes a result in the form of `--score-json`.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: It hasn't that form.
        """
        if report["status"] not in _STATUSES:
            raise ValueError(f"its status is {report['status']!r}")
        parts = {**(report["ruler"] or {}), "catalog": report["catalog_sha256"], "track": report["track"]}
        gate, contract, closeout, quality = (report[part] for part in ("gate", "contract", "closeout", "quality"))
        total = report["total_exact"]
        return cls(
            name=name,
            status=report["status"],
            trouble=str(report["invalid"]["what"]) if report["invalid"] else "",
            ruler={part: str(value) for part, value in parts.items() if value is not None},
            total=None if total is None else float(total),
            points={axis: float(one["points"]) for axis, one in (report["axes"] or {}).items()},
            gate=Said("passed" if gate["passed"] else str(gate["step"]), str(gate["output"])) if gate else None,
            checks={str(one["id"]): Said(_verdict(one["verdict"]), str(one["message"])) for one in report["checks"]},
            scored=frozenset(one["id"] for one in report["checks"] if one["kind"] != "advisory"),
            contract=frozenset(
                f"{label} {path}: {why}"
                for part, label in LABELS.items()
                for path, why in (contract or {}).get(part, ())
            ),
            exports_compared=bool((contract or {}).get("exports_compared")),
            closeout={
                str(rule["name"]): Said("broken" if rule["broken"] else "held", str(rule["broken"] or rule["rule"]))
                for rule in (closeout or {}).get("rules", ())
            },
            quality=Counter(f"{one['file']}: {one['rule']}: {one['message']}" for one in quality["above"])
            if quality
            else None,
        )

    @property
    def ran(self) -> frozenset[str]:
        """The ids of the checks that have a verdict."""
        return frozenset(name for name, said in self.checks.items() if said.verdict != "not-run")


def _verdict(word: object) -> str:
    if word not in VERDICTS:
        raise ValueError(f"a check's verdict is {word!r}")
    return str(word)


@dataclass(frozen=True)
class Turned:
    """One thing of which the two gradings say different things."""

    name: str
    before: Said
    after: Said


@dataclass(frozen=True)
class Moved:
    """A number of points that is not the same."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Findings:
    """The sentences that only one of the gradings has, in its order; one that was made twice stands there twice."""

    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.gone or self.new)


@dataclass(frozen=True)
class Comparison:
    """What is not the same in two gradings.

    Attributes:
        before, after: The two.
        total: `None` if it is the same, or if one of them has none.
        axes: Those that moved.
        gate: `None` if it says the same.
        checks: Those with another verdict, in the catalog's order. The words of a message decide nothing.
        contract, quality: What was found in one of them only.
        closeout: The rules that are held in one of them only.
        only_once: How many checks ran in one of them only; they are not compared.
    """

    before: Graded
    after: Graded
    total: Moved | None
    axes: tuple[Moved, ...]
    gate: Turned | None
    checks: tuple[Turned, ...]
    contract: Findings
    closeout: tuple[Turned, ...]
    quality: Findings
    only_once: int

    @property
    def agree(self) -> bool:
        """Whether nothing differs of what could be compared."""
        found = (self.total, self.axes, self.gate, self.checks, self.contract, self.closeout, self.quality)
        return not any(found)


def compare(before: Graded, after: Graded) -> Comparison:
    """Compares two gradings. What only one of them has measured is not compared.

    Raises:
        UsageProblem: They can't be compared: another ruler, an invalid grading, or no check in common.
    """
    _refuse(before, after)
    axes = tuple(_moved(before.points, after.points))
    both = before.total is not None and after.total is not None and before.total != after.total
    ran = before.ran & after.ran
    return Comparison(
        before=before,
        after=after,
        total=Moved("total", before.total, after.total) if both else None,  # type: ignore[arg-type]
        axes=axes,
        gate=_gate(before.gate, after.gate),
        checks=tuple(turned for turned in _turned(before.checks, after.checks) if turned.name in ran),
        contract=_findings(*_contracts(before, after)),
        closeout=tuple(_turned(before.closeout, after.closeout)),
        quality=_findings(before.quality, after.quality),
        only_once=len(before.ran ^ after.ran),
    )


def _refuse(before: Graded, after: Graded) -> None:
    for one in (before, after):
        if one.status == "invalid":
            raise UsageProblem(
                f"{one.name} is an invalid grading and says nothing about its tree: {one.trouble} "
                "Grade that tree again."
            )
    refuse_other_ruler(before, after)
    if before.ran and after.ran and before.ran.isdisjoint(after.ran):
        raise UsageProblem(
            f"{before.name} and {after.name} cannot be compared: no check ran in both. Grade with the same selection."
        )


def refuse_other_ruler(before: Graded, after: Graded) -> None:
    """Refuses what cannot be compared with each other.

    Raises:
        UsageProblem: A part of the rulers is not the same; it says which.
    """
    for part in sorted(before.ruler.keys() | after.ruler.keys()):
        told = before.ruler.get(part, "none"), after.ruler.get(part, "none")
        if told[0] != told[1]:
            todo = (
                "Compare gradings of one track"
                if part == "track"
                else "Grade both trees with one version of the grader"
            )
            raise UsageProblem(
                f"{before.name} and {after.name} cannot be compared: the {_PARTS.get(part, part)} is not the same, "
                f"{told[0]:.12} and {told[1]:.12}. {todo}."
            )


def _gate(before: Said | None, after: Said | None) -> Turned | None:
    if before is None or after is None or before.verdict == after.verdict:
        return None
    return Turned("gate", before, after)


def _moved(before: Mapping[str, float], after: Mapping[str, float]) -> Iterator[Moved]:
    for name, points in before.items():
        if name in after and after[name] != points:
            yield Moved(name, points, after[name])


def _turned(before: Mapping[str, Said], after: Mapping[str, Said]) -> Iterator[Turned]:
    for name, said in before.items():
        if name in after and after[name].verdict != said.verdict:
            yield Turned(name, said, after[name])


def _contracts(before: Graded, after: Graded) -> tuple[Counter[str], Counter[str]]:
    """The findings on the contract; those on exports only where both gradings have compared them."""
    both = before.exports_compared and after.exports_compared
    of_exports = f"{LABELS['exports']} "

    def counted(found: Iterable[str]) -> Counter[str]:
        return Counter(one for one in sorted(found) if both or not one.startswith(of_exports))

    return counted(before.contract), counted(after.contract)


def _findings(before: Counter[str] | None, after: Counter[str] | None) -> Findings:
    if before is None or after is None:
        return Findings()
    return Findings(tuple((before - after).elements()), tuple((after - before).elements()))
