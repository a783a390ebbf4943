"""The section on the terminal: what a person wants to know of a grading, in the order in which it matters."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING

from pytest_lendbench.progress import Progress
from pytest_lendbench.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pytest

    from pytest_lendbench.result import GradingResult, Invalid
    from pytest_lendbench.rules.contract import ContractFindings
    from pytest_lendbench.rules.ledger import Entry
    from pytest_lendbench.rules.scoring import Score

BAR = 24
"""Characters of a full bar."""
WIDEST = 100
GATE_LINES = 40


@dataclass
class _Page:
    """Lines with their colours, wrapped to a width."""

    width: int
    unicode: bool
    lines: list[tuple[str, dict[str, bool]]] = field(default_factory=list)

    def line(self, text: str = "", **colours: bool) -> None:
        self.lines.append((text, colours))

    def prose(self, text: str, indent: int, **colours: bool) -> None:
        for paragraph in plain(text).splitlines():
            margin = " " * indent
            for line in textwrap.wrap(paragraph, self.width, initial_indent=margin, subsequent_indent=margin) or [""]:
                self.line(line, **colours)

    def verbatim(self, text: str, indent: int, most: int) -> None:
        lines = plain(text).rstrip().splitlines()
        for line in lines[:most]:
            self.line(f"{' ' * indent}{line}")
        if len(lines) > most:
            self.line(f"{' ' * indent}({len(lines) - most} more lines in the JSON)")

    def heading(self, text: str) -> None:
        self.line()
        self.line(f"  {text}", bold=True)

    def bar(self, share: float) -> str:
        filled = int(share * BAR)
        full, empty = ("█", "░") if self.unicode else ("#", ".")
        return full * filled + empty * (BAR - filled)


def render(
    result: GradingResult, width: int = 80, *, unicode: bool = True, reports: Iterable[Path] = ()
) -> list[tuple[str, dict[str, bool]]]:
    """The section as lines, each with the colours pytest's terminal writer takes.

    Args:
        result: The grading.
        width: Columns of the terminal.
        unicode: Whether it can show more than ASCII.
        reports: Files that the result is written to.
    """
    page = _Page(min(width, WIDEST) - 1, unicode)
    rule = "─" if unicode else "-"
    title = f"{rule * 2} Lending Desk Bench {rule * 2} {result.track} "
    page.line(title + rule * (page.width - len(title)), bold=True)
    if result.invalid is not None:
        _invalid(page, result.invalid)
    elif result.score is not None:
        _score(page, result, result.score)
    else:
        _partial(page, result.entries)
    if result.prepared is not None and not result.prepared.gate.passed:
        page.heading(f"The {result.prepared.gate.step} failed, so no check was run")
        page.verbatim(result.prepared.gate.output, 4, GATE_LINES)
    if result.invalid is None:
        _failures(page, result.entries)
    if result.prepared is not None:
        _contract(page, result.prepared.contract)
    for section in result.sections:
        page.heading(section.name)
        for line in section.lines:
            page.prose(line, 4)
    page.line()
    for label, path in (("evidence", result.evidence), *(("report", report) for report in reports)):
        if path is not None:
            page.line(f"  {label:8}  {plain(str(path))}")
    _times(page, result)
    return page.lines


def _times(page: _Page, result: GradingResult) -> None:
    times = " · ".join(f"{name} {seconds:.1f} s" for name, seconds in result.timings.items())
    for index, line in enumerate(textwrap.wrap(times if page.unicode else times.replace("·", ","), page.width - 12)):
        page.line(f"  {'' if index else 'time':8}  {line}")


def _score(page: _Page, result: GradingResult, score: Score) -> None:
    page.line()
    enough = result.exit_status == 0
    asked = f"   at least {result.min_score:g} was asked for" if result.min_score is not None else ""
    stopped = "   stopped by the gate" if score.blocked_by_gate else ""
    page.line(f"  total  {score.total:.1f} of 100{stopped}{asked}", bold=True, green=enough, red=not enough)
    page.line()
    for axis in score.axes:
        note = f"  {' and '.join(axis.not_measured)} not measured" if axis.not_measured else ""
        points = f"{float(axis.points):5.1f} of {axis.most}"
        page.line(f"  {axis.name:10}  {page.bar(float(axis.rate))}  {points}{note}")
    page.line()
    for tier in filter(attrgetter("checks"), score.tiers):
        counts = "" if tier.scale == 1 else f"   its credit counts {float(tier.scale):.0%}"
        page.line(f"  tier {tier.number}  {tier.passed:3} of {tier.checks} checks passed{counts}")


def _partial(page: _Page, entries: Iterable[Entry]) -> None:
    ran = [entry for entry in entries if entry.verdict != "not-run"]
    passed = sum(entry.verdict == "passed" for entry in ran)
    page.line()
    page.line(f"  partial  {passed} of {len(ran)} selected checks passed", bold=True)
    page.line("  There is no total: not every check was asked for.")


def _invalid(page: _Page, invalid: Invalid) -> None:
    page.line()
    page.line("  invalid: this grading says nothing about the candidate", bold=True, yellow=True)
    page.line()
    page.prose(invalid.what, 4)
    page.prose(invalid.todo, 4, bold=True)
    if invalid.details:
        page.line()
        page.verbatim(invalid.details, 4, GATE_LINES)


def _failures(page: _Page, entries: Iterable[Entry]) -> None:
    lost = [entry for entry in entries if entry.verdict == "failed" and entry.spec.scored]
    if lost:
        page.heading(f"{len(lost)} {'check' if len(lost) == 1 else 'checks'} failed")
    domain = ""
    for entry in lost:
        spec = entry.spec
        if spec.domain != domain:
            domain = spec.domain
            page.line()
        page.line(f"  {spec.id}", red=True)
        page.prose(_first_line(entry.message), 6)
        cited = f"{spec.spec}: {spec.why}" if spec.spec else spec.why
        page.prose(cited, 6, light=True)
    for entry in entries:
        if not entry.spec.scored and entry.verdict == "failed":
            page.line()
            page.prose(f"advice, not scored: {entry.spec.id}: {_first_line(entry.message)}", 2)


def _contract(page: _Page, contract: ContractFindings) -> None:
    if contract.named:
        page.heading("Contract")
    for label, path, why in contract.named:
        page.prose(f"{label} {path}: {why}", 4)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "(no reason given)")


class TerminalFace:
    """Prints the section, as the last thing of pytest's output."""

    def __init__(self, config: pytest.Config, reports: Iterable[Path]) -> None:
        self._config = config
        self._reports = tuple(reports)
        self._lines: list[tuple[str, dict[str, bool]]] = []

    def pytest_lendbench_publish(self, result: GradingResult) -> None:
        """Only prepares: what goes wrong here must be able to change the exit status."""
        if not self._config.pluginmanager.hasplugin("terminalreporter"):
            return
        stdout = sys.__stdout__
        encoding = (stdout.encoding if stdout else "").lower().replace("-", "")
        width = self._config.get_terminal_writer().fullwidth
        self._lines = render(result, width, unicode=encoding.startswith("utf"), reports=self._reports)

    def pytest_unconfigure(self) -> None:
        progress = Progress(self._config)
        for text, colours in self._lines:
            progress.line(text, **colours)
