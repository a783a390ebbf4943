"""The kill matrix: which check failed on which tree, and what that must look like for the checks to be proven."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

TreeKind = Literal["correct", "floor", "defect"]

TOTAL_OF_CORRECT = 100
"""The total of every correct tree, in quality as well: where it loses points there, the analyzer's rule or the tree is
mended (`docs/calibration.md`)."""
MOST_OF_THE_FLOOR = 0.02
"""The completion that the untouched app must stay below."""


@dataclass(frozen=True)
class Tree:
    """A tree of the matrix and what is known of it.

    Attributes:
        id: Unique: `reference`, `plain with variants`, `sequential-reads` …
        kind: `correct` (must pass everything), `floor` (the untouched app) or `defect`.
        caught_by: Of a defect: the scored checks that must fail.
        stopped_by: Of a defect, instead: the step of the gate that it must not pass.
    """

    id: str
    kind: TreeKind
    caught_by: frozenset[str] = frozenset()
    stopped_by: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What a grading said of a tree.

    Attributes:
        status: Of the grading: `scored`, `partial` (only some checks were asked for) or `invalid`.
        total: Out of 100; `None` unless it was scored.
        completion: The completion's rate, 0 to 1; `None` unless it was scored.
        stopped_by: The step of the gate that it did not pass.
        passed, failed: The scored checks that ran, sorted.
        trouble: Why it is invalid, or what the failed checks of a whole grading have said; else empty.
    """

    status: str
    total: float | None
    completion: float | None
    stopped_by: str | None
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    trouble: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; `from_json` reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The outcome that `to_json` wrote."""
        return cls(**{**data, "passed": tuple(data["passed"]), "failed": tuple(data["failed"])})


def kills(outcomes: Mapping[Tree, Outcome]) -> dict[str, list[str]]:
    """By check: the ids of the defects that it catches, sorted."""
    found: dict[str, list[str]] = {}
    for tree, outcome in outcomes.items():
        if tree.kind == "defect":
            for check in outcome.failed:
                found.setdefault(check, []).append(tree.id)
    return {check: sorted(ids) for check, ids in sorted(found.items())}


def broken_rules(
    outcomes: Mapping[Tree, Outcome], scored: Iterable[str], *, whole: bool, full: bool = False
) -> list[str]:
    """What is wrong with the checks or with the trees, one sentence each; nothing if the checks are proven.

    Args:
        outcomes: What was graded.
        scored: The ids of all checks and probes.
        whole: Whether all trees are there. Only then must every check have a kill.
        full: Whether every check ran on every defect. Only then can two be told to be one.
    """
    found = [sentence for tree, outcome in outcomes.items() for sentence in _of_tree(tree, outcome)]
    if whole:
        killed = kills(outcomes)
        found += [f"{check}: no defect makes it fail." for check in sorted(scored) if check not in killed]
        if full:
            found += _twins(killed)
    return found


def _twins(killed: Mapping[str, list[str]]) -> list[str]:
    """Checks that always fail together: they are one check."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for check, defects in killed.items():
        rows.setdefault(tuple(defects), []).append(check)
    return [f"{' and '.join(twins)} fail on the same defects, always." for twins in rows.values() if len(twins) > 1]


def _of_tree(tree: Tree, outcome: Outcome) -> list[str]:
    if outcome.status == "invalid":
        return [f"{tree.id}: the grading is invalid. {outcome.trouble}"]
    return {"correct": _of_correct, "floor": _of_floor, "defect": _of_defect}[tree.kind](tree, outcome)


def _of_defect(tree: Tree, outcome: Outcome) -> list[str]:
    if outcome.stopped_by != tree.stopped_by:
        should, did = (step or "no step of the gate" for step in (tree.stopped_by, outcome.stopped_by))
        return [f"{tree.id}: {should} should stop it; {did} did."]
    if not tree.caught_by and tree.stopped_by is None:
        return [f"{tree.id}: its defect.toml names no check that catches it."]
    missed = sorted(tree.caught_by.difference(outcome.failed))
    return [f"{tree.id}: not caught by {', '.join(missed)}."] if missed else []


def _of_correct(tree: Tree, outcome: Outcome) -> list[str]:
    if outcome.failed:
        return [f"{tree.id}: it is correct, but these fail: {', '.join(outcome.failed)}. {outcome.trouble}".rstrip()]
    if outcome.total != TOTAL_OF_CORRECT:
        return [f"{tree.id}: it is correct, but its total is {outcome.total}, not {TOTAL_OF_CORRECT}."]
    return []


def _of_floor(tree: Tree, outcome: Outcome) -> list[str]:
    found = []
    if outcome.completion is None or outcome.completion >= MOST_OF_THE_FLOOR:
        found.append(f"{tree.id}: its completion is {outcome.completion}, not below {MOST_OF_THE_FLOOR}.")
    if probes := [check for check in outcome.passed if check.startswith("P.")]:
        found.append(f"{tree.id}: nothing is built, but these probes pass: {', '.join(probes)}.")
    return found
