"""A summary in Markdown for a pull request or a job's page: `--score-markdown FILE`.

What comes from a candidate stands in code spans and fenced blocks only. In them nothing is markup for GitHub: no HTML,
link, image or mention.
"""

from __future__ import annotations

import itertools
import re
from operator import attrgetter
from typing import TYPE_CHECKING

from pytest_lendbench.faces.whole_file import write_whole
from pytest_lendbench.faces.words import count, first_line
from pytest_lendbench.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_lendbench.bench.gate import GateResult
    from pytest_lendbench.result import GradingResult, Invalid
    from pytest_lendbench.rules.contract import ContractFindings
    from pytest_lendbench.rules.ledger import Entry
    from pytest_lendbench.rules.scoring import Score

LONGEST = 60_000
"""Characters. GitHub takes 65 536 in a comment."""
OPEN_CHECKS = 10
"""More failed checks than these are folded in."""
SHOWN_QUALITY = 10
GATE_LINES = 30
_SENTENCE = 300
_LINE = 200
_ROOM = {"checks": 26_000, "contract": 8_000, "closeout": 4_000, "quality": 8_000, "plugins": 4_000}
"""Characters for each list. Together with the rest they are less than `LONGEST`."""


def code(text: str, most: int = _SENTENCE) -> str:
    """`text` as a code span on one line: as it is, whatever it holds, and cut off after `most` characters."""
    words = " ".join(plain(text).split()) or "(nothing)"
    words = words if len(words) <= most else f"{words[: most - 1]}…"
    fence = "`" * (_longest_run(words) + 1)
    space = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{space}{words}{space}{fence}"


def block(text: str, most: int = GATE_LINES) -> list[str]:
    """`text` as a fenced block of at most `most` lines."""
    lines = [line[:_LINE] for line in plain(text).rstrip().splitlines()]
    left_out = [f"({len(lines) - most} more lines)"] if len(lines) > most else []
    shown = [*lines[:most], *left_out]
    fence = "`" * max(3, _longest_run("\n".join(shown)) + 1)
    return [f"{fence}text", *shown, fence]


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def render(result: GradingResult, files: Sequence[Path] = ()) -> str:
    """The summary, at most `LONGEST` characters.

    Args:
        result: The grading.
        files: The other reports of it, to be named at the end.
    """
    lines: list[str] = []
    if result.invalid is not None:
        lines += _invalid(result.invalid)
    elif result.score is not None:
        lines += _score(result, result.score)
    else:
        ran = [entry for entry in result.entries if entry.verdict != "not-run"]
        passed = sum(entry.verdict == "passed" for entry in ran)
        lines += [f"## Lending Desk Bench: {passed} of {len(ran)} selected checks passed", ""]
        lines += ["There is no total: not every check was asked for.", ""]
    if result.prepared is not None and not result.prepared.gate.passed:
        lines += _gate(result.prepared.gate)
    if result.invalid is None:
        lines += _failures(result.entries)
    if result.prepared is not None:
        lines += _contract(result.prepared.contract)
    lines += _closeout(result)
    lines += _quality(result)
    for section in result.sections:
        said = [f"- {code(line)}" for line in section.lines]
        lines += _section(code(section.name), said, _ROOM["plugins"] // len(result.sections))
    return "\n".join([*lines, _end(result, files)]) + "\n"


def _invalid(invalid: Invalid) -> list[str]:
    said = [f"- {code(line)}" for line in plain(invalid.what, 4_000).splitlines() if line.strip()]
    head = "## Lending Desk Bench: invalid"
    return [head, "", "This grading says nothing about the candidate.", "", *said, "", f"**{code(invalid.todo)}**", ""]


def _score(result: GradingResult, score: Score) -> list[str]:
    asked = f" {result.min_score:g} was asked for." if result.min_score is not None else ""
    good = "Good." if result.exit_status == 0 else "Not good enough."
    lines = [f"## Lending Desk Bench: {score.total:.1f} of 100", "", f"{good}{asked}", ""]
    lines += ["| axis | points | of | |", "|---|---:|---:|---|"]
    for axis in score.axes:
        note = f"{' and '.join(axis.not_measured)} not measured" if axis.not_measured else ""
        lines.append(f"| {axis.name} | {float(axis.points):.1f} | {axis.most} | {note} |")
    tiers = [f"tier {one.number}: {one.passed} of {one.checks}" for one in filter(attrgetter("checks"), score.tiers)]
    return [*lines, "", f"Checks passed: {', '.join(tiers)}.", ""]


def _gate(gate: GateResult) -> list[str]:
    return [f"### The {gate.step} failed, so no check was run", "", *block(gate.output), ""]


def _failures(entries: Iterable[Entry]) -> list[str]:
    lost = [entry for entry in entries if entry.verdict == "failed" and entry.spec.scored]
    if not lost:
        return []
    items: list[str] = []
    for domain, group in itertools.groupby(lost, key=lambda entry: entry.spec.domain):
        named = list(group)
        items.append(f"- **{domain}**: {len(named)} failed")
        items += [f"  - **{entry.spec.id}** {code(first_line(entry.message))}" for entry in named]
    heading = f"{count(len(lost), 'check')} failed"
    listed = _list(items, _ROOM["checks"])
    if len(lost) > OPEN_CHECKS:
        return ["<details>", f"<summary><b>{heading}</b></summary>", "", *listed, "", "</details>", ""]
    return [f"### {heading}", "", *listed, ""]


def _contract(contract: ContractFindings) -> list[str]:
    items = [f"- {label} {code(path)}: {code(why)}" for label, path, why in contract.named]
    return _section("Contract", items, _ROOM["contract"])


def _closeout(result: GradingResult) -> list[str]:
    if result.prepared is None or result.prepared.closeout is None:
        return []
    broken = [rule for rule in result.prepared.closeout.rules if not rule.held]
    return _section("Closeout", [f"- {rule.rule} {code(rule.broken)}" for rule in broken], _ROOM["closeout"])


def _quality(result: GradingResult) -> list[str]:
    found = result.quality.above if result.quality is not None else ()
    items = [
        f"- {one.severity}, {one.category}: {code(f'{one.file}:{one.line}')} {code(one.message)} ({code(one.rule)})"
        for one in found[:SHOWN_QUALITY]
    ]
    if len(found) > SHOWN_QUALITY:
        items.append(f"- and {len(found) - SHOWN_QUALITY} more")
    return _section("Quality", items, _ROOM["quality"])


def _section(heading: str, items: Sequence[str], room: int) -> list[str]:
    return [f"### {heading}", "", *_list(items, room), ""] if items else []


def _list(items: Sequence[str], room: int) -> list[str]:
    """The items that there is room for, and how many more there are."""
    ends = itertools.accumulate(len(item) + 1 for item in items)
    fitting = sum(end <= room for end in ends)
    left_out = len(items) - fitting
    return [*items[:fitting], *([f"- and {count(left_out, 'more line')} in the full report"] if left_out else [])]


def _end(result: GradingResult, files: Sequence[Path]) -> str:
    names = [code(file.name) for file in files]
    if result.evidence is not None:
        names.append(f"what the failed checks have seen in {code(result.evidence.name)}")
    more = f" More: {', '.join(names)}." if names else ""
    return f"<sub>Track {code(result.track)}, {code(result.candidate.name)}.{more}</sub>"


class MarkdownFace:
    """Writes the summary to a file, if one was asked for.

    Args:
        file: Where to; `None` if nobody wants it.
        files: The other reports that are written of this grading.
    """

    def __init__(self, file: Path | None, files: Sequence[Path]) -> None:
        self._file = file
        self._files = files

    def pytest_lendbench_publish(self, result: GradingResult) -> None:
        """Writes it, atomically.

        Raises:
            OSError: It cannot be written.
        """
        if self._file is not None:
            write_whole(self._file, render(result, self._files))
