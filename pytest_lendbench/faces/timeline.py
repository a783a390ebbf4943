"""A picture of what the store was asked for: one lane for each request, one bar for each operation.

Along it go steps, not milliseconds: each asking and each answering is one, so that what waited for what can be seen
however fast it went. Places along it are percentages of the width, so that the texts keep their size on a phone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_lendbench.bench.store.tables import WRITES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_lendbench.rules.evidence import Event

MOST = 40
"""Bars in one picture."""
ROW = 30
HEAD = 26
GAP = 10
_MARGIN = 2
"""Left free on either side, in percent."""


@dataclass(frozen=True)
class Bar:
    """One operation. `x` and `width` are percentages, `y` is in pixels; `end` where it ends, as `x`."""

    event: Event
    x: float
    width: float
    y: int
    write: bool

    @property
    def end(self) -> float:
        return self.x + self.width

    @property
    def kind(self) -> str:
        """For the style sheet."""
        words = ["write" if self.write else "read"]
        words += ["held"] if self.event.held else []
        words += ["failed"] if self.event.failed else []
        words += ["open"] if self.event.answered_step is None else []
        return " ".join(words)


@dataclass(frozen=True)
class Lane:
    """One request, or what belongs to none (its tag is empty). `y` is in pixels."""

    tag: str
    y: int
    height: int
    bars: tuple[Bar, ...]

    @property
    def label(self) -> str:
        """Its tag and what was requested with it: several requests may have one tag, those of a browser's page."""
        asked = ", ".join(dict.fromkeys(bar.event.request for bar in self.bars if bar.event.request))
        return " ".join(filter(None, [self.tag, asked])) or "no request"


@dataclass(frozen=True)
class Picture:
    """Lanes in the order of their first operation. `left_out` is how many operations there are before them."""

    lanes: tuple[Lane, ...]
    height: int
    left_out: int

    @property
    def summary(self) -> str:
        """What it shows, for those who don't see it."""
        told = []
        for lane in self.lanes:
            names = ", ".join(f"{bar.event.name}{' (held)' if bar.event.held else ''}" for bar in lane.bars)
            told.append(f"{lane.label}: {names}.")
        return " ".join(told)


def picture(events: Sequence[Event]) -> Picture | None:
    """The picture of these operations; `None` where it would tell no more than a list.

    It tells more where the check has kept one waiting, or several were on their way at a time.
    """
    shown = events[-MOST:]
    if len(shown) < 2 or not (any(event.held for event in shown) or _overlap(shown)):
        return None
    steps = [step for event in shown for step in (event.asked_step, event.answered_step) if step is not None]
    first, span = min(steps), max(steps) - min(steps) + 1
    lanes: list[Lane] = []
    y = 0
    for tag in dict.fromkeys(event.tag for event in shown):
        top, bars = y, []
        y += HEAD
        for event in shown:
            if event.tag == tag:
                end = first + span if event.answered_step is None else event.answered_step
                x, until = (_MARGIN + (step - first) * (100 - 2 * _MARGIN) / span for step in (event.asked_step, end))
                bars.append(Bar(event, x, until - x, y, event.name in WRITES))
                y += ROW
        lanes.append(Lane(tag, top, y - top, tuple(bars)))
        y += GAP
    return Picture(tuple(lanes), y - GAP, len(events) - len(shown))


def _overlap(events: Sequence[Event]) -> bool:
    """Whether an operation was asked for while another one waited."""
    ends = [event.answered_step for event in events]
    starts = [event.asked_step for event in events]
    return any(end is None or end > start for end, start in zip(ends, starts[1:], strict=False))
