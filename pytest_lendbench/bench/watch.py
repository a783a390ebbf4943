"""The end of a check that would never end by itself.

Every wait of the grader has a bound of its own. But what it waits for is the candidate's, and some calls of Playwright
wait for ever for a page that has crashed: this holds whatever was forgotten.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import psutil

from pytest_lendbench.bench.renderers import busiest_renderer, end_renderers
from pytest_lendbench.rules.errors import CandidateFault, InstrumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHECK_S = 600.0
"""Far more than all waits of a check together take on a slow machine: the longest check takes two seconds."""

_HUNG_CPU_S = 100.0
"""A page that has computed for so long is hung, whatever else the machine does: all pages of a grading take 14 s."""

_THEN_S = 60.0
"""How long after its pages everything else is ended too, if the check still waits."""


@contextmanager
def watched() -> Iterator[None]:
    """Brings what is done inside to an end: ends the processes of pages, and then all that this process has started.

    Raises:
        CandidateFault: It had to, whatever the check itself says, and a page is proven hung.
        InstrumentError: It had to, and nobody knows what the check has waited for.
    """
    faults: list[CandidateFault | InstrumentError] = []
    over = threading.Event()
    lock = threading.Lock()

    def unless_over(end: Callable[[], None]) -> None:
        # What the next check has started is not ended.
        with lock:
            if not over.is_set():
                end()

    def watch() -> None:
        if over.wait(CHECK_S):
            return
        faults.append(_fault())
        unless_over(end_renderers)
        if not over.wait(_THEN_S):
            unless_over(_end_all)

    watcher = threading.Thread(target=watch, name="watch of a check", daemon=True)
    watcher.start()
    try:
        try:
            yield
        finally:
            with lock:
                over.set()
            watcher.join()
    except Exception as error:
        if faults:
            raise faults[0] from error
        raise
    if faults:
        raise faults[0]


def _fault() -> CandidateFault | InstrumentError:
    what = f"The check did not come to an end within {CHECK_S:.0f} s."
    renderer, computed = busiest_renderer(), 0.0
    if renderer is not None:
        with suppress(psutil.NoSuchProcess):  # It has ended by itself.
            computed = sum(renderer.cpu_times()[:2])
    if computed >= _HUNG_CPU_S:
        return CandidateFault(f"{what} A page computed for {computed:.0f} s.")
    return InstrumentError(f"{what} It is not known what it waited for.", "Grade again; report it if it happens again.")


def _end_all() -> None:
    """Ends all that this process has started, but Playwright's driver, which tells those who wait."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # It has ended by itself.
            if "run-driver" not in child.cmdline():
                child.kill()
