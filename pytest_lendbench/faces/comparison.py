"""What changed between two gradings, for a person: `lendbench compare A.json B.json`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_lendbench.faces.words import count, first_line, prose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_lendbench.rules.comparison import Comparison, Findings, Moved, Turned


MOST = 10
"""More findings than these are only counted."""
_REASON = 200
"""Characters of a reason."""


def render(comparison: Comparison, columns: int) -> list[str]:
    """The comparison as lines, the important first; where nothing changed there is nothing.

    Args:
        comparison: What is not the same.
        columns: How long a line may be.
    """
    lines: list[str] = []
    if comparison.agree:
        lines.append("The two gradings agree.")
    numbers = [*([comparison.total] if comparison.total else []), *comparison.axes]
    lines += _numbers(numbers)
    if comparison.gate:
        lines += ["", *_gate(comparison.gate, columns)]
    lines += _checks(comparison, columns)
    lines += _contract(comparison.contract, columns)
    lines += _closeout(comparison.closeout, columns)
    lines += _quality(comparison.quality, columns)
    if note := _note(comparison):
        lines += ["", *prose(note, 0, columns)]
    return lines


def _numbers(moved: Iterable[Moved]) -> list[str]:
    return [f"{one.name:10}  {one.before:5.1f} → {one.after:5.1f}  {one.after - one.before:+7.2f}" for one in moved]


def _gate(gate: Turned, columns: int) -> list[str]:
    if gate.after.verdict == "passed":
        return [f"It passes the gate now; the {gate.before.verdict} had failed."]
    return [f"The {gate.after.verdict} fails:", *prose("\n".join(gate.after.why.splitlines()[:10]), 4, columns)]


def _checks(comparison: Comparison, columns: int) -> list[str]:
    scored = comparison.before.scored | comparison.after.scored
    lost = [one for one in comparison.checks if one.after.verdict != "passed" and one.name in scored]
    won = [one for one in comparison.checks if one.after.verdict == "passed" and one.name in scored]
    advice = [one for one in comparison.checks if one.name not in scored]
    lines: list[str] = []
    if lost:
        lines += ["", f"{count(len(lost), 'check')} {'fails' if len(lost) == 1 else 'fail'} now:"]
        for one in lost:
            lines += [f"  {one.name}", *prose(first_line(one.after.why, _REASON), 6, columns)]
    if won:
        lines += ["", f"{count(len(won), 'check')} {'passes' if len(won) == 1 else 'pass'} now:"]
        for one in won:
            lines += [f"  {one.name}", *prose(f"before: {first_line(one.before.why, _REASON)}", 6, columns)]
    if advice:
        lines += ["", "Not scored:"]
        lines += [f"  {one.name}  {one.before.verdict} → {one.after.verdict}" for one in advice]
    return lines


def _contract(findings: Findings, columns: int) -> list[str]:
    return _section("Contract", [("new", findings.new), ("gone", findings.gone)], columns)


def _quality(findings: Findings, columns: int) -> list[str]:
    return _section("Quality", [("new", findings.new), ("gone", findings.gone)], columns)


def _closeout(rules: Iterable[Turned], columns: int) -> list[str]:
    broken = [f"{one.name}: {one.after.why}" for one in rules if one.after.verdict == "broken"]
    held = [f"{one.name}: {one.after.why}" for one in rules if one.after.verdict == "held"]
    return _section("Closeout", [("broken now", broken), ("held now", held)], columns)


def _section(heading: str, groups: Iterable[tuple[str, Iterable[str]]], columns: int) -> list[str]:
    lines: list[str] = []
    for label, texts in groups:
        counts = Counter(texts)
        for text, times in list(counts.items())[:MOST]:
            often = f" ({times} times)" if times > 1 else ""
            lines += prose(f"{label}: {first_line(text, _REASON)}{often}", 2, columns)
        if len(counts) > MOST:
            lines.append(f"  {label}: {len(counts) - MOST} more")
    return ["", f"{heading}:", *lines] if lines else []


def _note(comparison: Comparison) -> str:
    """What was not compared."""
    both = comparison.before, comparison.after
    said = [
        f"{one.name} is a partial grading and has no total: only the checks that ran in both are compared."
        for one in both
        if one.status == "partial"
    ]
    if comparison.only_once:
        said.append(f"{count(comparison.only_once, 'check')} ran in one of the gradings only.")
    measured = [bool(one.closeout) for one in both], [one.quality is not None for one in both]
    said += [
        f"The {part} was measured in one of the gradings only."
        for part, (one, other) in zip(("closeout", "quality"), measured, strict=True)
        if one != other
    ]
    return " ".join(said)
