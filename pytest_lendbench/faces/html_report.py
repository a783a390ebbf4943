"""The result as one page to read, with nothing outside of itself: `--score-html FILE`.

`report.html` and its parts hold the words and the order; what is computed for them is here. All text is escaped by
Jinja, and made safe by `plain` on its way into the page.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import jinja2

from pytest_lendbench.bench.check_source import sources
from pytest_lendbench.faces.timeline import Picture, picture
from pytest_lendbench.faces.whole_file import write_whole
from pytest_lendbench.faces.wording import Wording, parts
from pytest_lendbench.rules.checks import DOMAINS
from pytest_lendbench.rules.costs import Costs, costs, together
from pytest_lendbench.rules.evidence import Log, Note, Recording, Trace, screenshots
from pytest_lendbench.rules.scoring import Measures
from pytest_lendbench.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from fractions import Fraction

    from pytest_lendbench.bench.check_source import CheckSource
    from pytest_lendbench.result import GradingResult
    from pytest_lendbench.rules.ledger import Entry
    from pytest_lendbench.rules.scoring import Axis

_TEXT = 20_000
"""Characters of one text at most."""
_PICTURES = 16_000_000
"""Characters of all embedded screenshots at most: beyond, they are named by their files."""
_REASONS = 12
_DATA = ("[", "{", "(", "'", '"')
"""How a message begins that is a value, not a sentence."""


class Base64(str):
    """A picture. Text of the grader's own making, whatever its length."""

    __slots__ = ()


@dataclass(frozen=True)
class Shot:
    """A screenshot: its file's name, the page's address, and the picture; empty if the report is too large."""

    file: str
    address: str
    png: Base64


@dataclass(frozen=True)
class Failure:
    """A check that failed or errored, with all that can be shown of it.

    `cost` is `None` where it can't be said. `source` has the lines of the check, without its decorators; it stopped at
    the line of index `stopped`.
    """

    entry: Entry
    wording: Wording
    cost: Fraction | None
    shots: tuple[Shot, ...]
    notes: tuple[str, ...]
    logs: tuple[str, ...]
    traces: tuple[Trace, ...]
    pictures: tuple[Picture, ...]
    recordings: tuple[str, ...]
    source: tuple[str, ...]
    stopped: int | None


@dataclass(frozen=True)
class Reason:
    """Failures that have one reason, and by how many points the total would be higher without all of them."""

    text: str
    failures: tuple[Failure, ...]
    cost: Fraction


@dataclass(frozen=True)
class Domain:
    """The checks of one domain."""

    letter: str
    title: str
    entries: tuple[Entry, ...]

    def having(self, *verdicts: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.verdict in verdicts]


@dataclass(frozen=True)
class Phase:
    """A phase of the grading: when it began and how long it took, in percent of the whole."""

    name: str
    seconds: float
    start: float
    width: float


class View:
    """What the template asks for beside the result itself."""

    def __init__(self, result: GradingResult, folder: Path, checks: Mapping[str, CheckSource]) -> None:
        self.result = result
        self.costs = _costs(result)
        self._folder = folder
        self._checks = checks
        self._room = _PICTURES
        entries = result.entries
        self.scored = [entry for entry in entries if entry.spec.scored]
        self.domains = list(_domains(self.scored))
        self.lost = [self._failure(entry) for entry in self.scored if entry.verdict == "failed"]
        self.errored = [self._failure(entry) for entry in entries if entry.verdict == "errored"]
        self.advice = [entry for entry in entries if not entry.spec.scored]

    @property
    def name(self) -> str:
        """A short name of the candidate."""
        return self.result.candidate.name or str(self.result.candidate)

    @property
    def ran(self) -> list[Entry]:
        return [entry for entry in self.scored if entry.verdict != "not-run"]

    @property
    def passed(self) -> list[Entry]:
        return [entry for entry in self.scored if entry.verdict == "passed"]

    @property
    def worst_axis(self) -> Axis | None:
        """The one that has lost most points."""
        score = self.result.score
        return max(score.axes, key=lambda axis: axis.most - axis.points) if score else None

    @property
    def reasons(self) -> list[Reason]:
        """Why checks failed, the costliest first; empty where the costs can't be said."""
        measures = _measures(self.result)
        if self.costs is None or measures is None:
            return []
        grouped: dict[str, list[Failure]] = {}
        for one in self.lost:
            grouped.setdefault(one.wording.reason, []).append(one)
        found = [
            Reason(
                _in_words(text, own),
                tuple(own),
                together(self.result.entries, measures, {one.entry.spec.id for one in own}),
            )
            for text, own in grouped.items()
        ]
        return sorted(found, key=lambda reason: -reason.cost)[:_REASONS]

    @property
    def contract(self) -> list[tuple[str, str, str]]:
        """Kind, path and sentence of each finding."""
        return [] if self.result.prepared is None else self.result.prepared.contract.named

    @property
    def phases(self) -> list[Phase]:
        """In their order. What belongs to none of them is left blank at the end of the bar."""
        named = {name: seconds for name, seconds in self.result.timings.items() if name != "total"}
        whole = max(self.result.timings.get("total", 0.0), sum(named.values())) or 1.0
        found, start = [], 0.0
        for name, seconds in named.items():
            found.append(Phase(name, seconds, start * 100 / whole, seconds * 100 / whole))
            start += seconds
        return found

    @property
    def provenance(self) -> list[tuple[str, str]]:
        """All of it, nested names joined by spaces."""
        known = {"catalog sha256": self.result.catalog_sha256} if self.result.catalog_sha256 else {}
        return list(_flat({**self.result.provenance, **known}))

    def link(self, file: str) -> str:
        """The address of a file in the directory of evidence, from the report."""
        if self.result.evidence is None:
            return ""
        way = os.path.relpath(self.result.evidence / file, self._folder)
        return "./" + quote(os.fsencode(way))

    def _failure(self, entry: Entry) -> Failure:
        pieces = entry.evidence
        traces = tuple(piece for piece in pieces if isinstance(piece, Trace))
        pictures = (picture(trace.events) for trace in traces)
        source = self._checks[entry.spec.id].body if entry.spec.id in self._checks else ()
        return Failure(
            entry,
            parts(entry.message),
            self.costs.checks.get(entry.spec.id) if self.costs else None,
            tuple(self._shots(entry)),
            tuple(piece.text for piece in pieces if isinstance(piece, Note)),
            tuple(piece.text for piece in pieces if isinstance(piece, Log) and piece.text.strip()),
            tuple(trace for trace in traces if trace.events),
            tuple(one for one in pictures if one is not None),
            tuple(piece.file for piece in pieces if isinstance(piece, Recording)),
            source,
            _stopped(source, entry.details),
        )

    def _shots(self, entry: Entry) -> Iterator[Shot]:
        for file, shot in screenshots(entry.spec.id, entry.evidence).items():
            self._room -= len(shot.png)
            yield Shot(file, shot.address, Base64(shot.png if self._room >= 0 else ""))


def _stopped(source: tuple[str, ...], details: str) -> int | None:
    """The line of the check at which pytest's traceback says that it failed."""
    said = {line[1:].strip() for line in details.splitlines() if line.startswith(">")}
    return next((index for index, line in reversed(list(enumerate(source))) if line.strip() in said), None)


def _in_words(reason: str, failures: list[Failure]) -> str:
    """The reason, or what the one check shows that has a reason which is only data."""
    if len(failures) == 1 and reason.startswith(_DATA):
        return f"not so: {failures[0].entry.spec.title}"
    return reason


def _domains(entries: Iterable[Entry]) -> Iterator[Domain]:
    entries = list(entries)
    for letter in dict.fromkeys(entry.spec.domain for entry in entries):
        own = tuple(entry for entry in entries if entry.spec.domain == letter)
        yield Domain(letter, DOMAINS.get(letter, ""), own)


def _costs(result: GradingResult) -> Costs | None:
    prepared, measures = result.prepared, _measures(result)
    if prepared is None or measures is None or result.score is None:
        return None
    return costs(result.entries, measures, prepared.closeout, result.quality, result.score)


def _measures(result: GradingResult) -> Measures | None:
    """What has gone into the score beside the verdicts."""
    prepared = result.prepared
    if prepared is None:
        return None
    return Measures(
        gate_passed=prepared.gate.passed,
        violated_classes=len(prepared.contract.violated_classes),
        closeout=prepared.closeout.share if prepared.closeout else None,
        penalty=result.quality.penalty if result.quality else None,
    )


def _flat(values: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name} ")
        elif isinstance(value, list | tuple):
            yield before + name, ", ".join(map(str, value)) or "none"
        else:
            yield before + name, str(value)


def _points(value: Fraction | float, places: int = 1) -> str:
    """Points with a minus sign that is one. What rounds to nothing is said to be little, not nothing."""
    number = float(value)
    least = 10**-places
    if 0 < abs(number) < least / 2:
        return f"< {least:.{places}f}"
    return f"{number:.{places}f}".replace("-", "\N{MINUS SIGN}")


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _anchor(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", name)


def _safe(value: object) -> object:
    """What an expression of the template yields, made safe. Escaping comes after; what is escaped already stays."""
    ready = isinstance(value, Base64) or hasattr(value, "__html__")
    return value if ready else plain(str(value), _TEXT)


_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    finalize=_safe,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters |= {"points": _points, "counted": _counted, "anchor": _anchor}


def page(result: GradingResult, folder: Path, checks: Mapping[str, CheckSource]) -> str:
    """The page of a result.

    Args:
        result: The grading.
        folder: Where the page will lie, for links to the evidence.
        checks: Where each check is written, by id; those that are missing are shown without.
    """
    return _TEMPLATES.get_template("report.html").render(view=View(result, folder, checks), result=result)


class HtmlFace:
    """Writes the page to a file, if one was asked for."""

    def __init__(self, file: Path | None, suite: Iterable[Path]) -> None:
        self._file = file
        self._suite = suite

    def pytest_lendbench_publish(self, result: GradingResult) -> None:
        """Atomically: whoever looks finds nothing or the whole page.

        Raises:
            OSError: It cannot be written.
        """
        if self._file is not None:
            write_whole(self._file, page(result, self._file.parent, sources(self._suite)))
