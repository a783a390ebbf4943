"""The processes of this process' browser, and their end when a page keeps a check for ever.

A page in an endless loop never answers, whatever time-out Playwright is given, and some of Playwright's calls wait for
ever for a page that has crashed.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import psutil
from playwright.sync_api import Error as PlaywrightError

from pytest_lendbench.bench.patience import blame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_lendbench.rules.errors import CandidateFault, InstrumentError

CHECK_S = 600.0
"""Far more than all waits of a check together take on a slow machine: the longest check takes two seconds."""

_THEN_S = 60.0
"""How long after its pages a check's browser is ended too, if the check still waits."""


def busiest_renderer() -> psutil.Process | None:
    """The renderer that used most CPU, as evidence of a page in an endless loop."""
    used: dict[psutil.Process, float] = {}
    for renderer in _processes("--type=renderer"):
        with suppress(psutil.NoSuchProcess):  # It has ended by itself.
            used[renderer] = sum(renderer.cpu_times()[:2])
    return max(used, key=used.__getitem__, default=None)


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Ends the pages' processes if what is done inside takes longer."""
    watch = threading.Timer(seconds, _end, ["--type=renderer"])
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


@contextmanager
def watched() -> Iterator[None]:
    """Ends the pages' processes, and then the browser, if a check takes so long that it can't come to an end by itself.

    Raises:
        CandidateFault: It has taken so long, and a page was busy.
        InstrumentError: It has taken so long, and the machine is to blame.
    """
    faults: list[CandidateFault | InstrumentError] = []
    over = threading.Event()

    def watch() -> None:
        if over.wait(CHECK_S):
            return
        faults.append(blame(f"The check waited for its pages for more than {CHECK_S:.0f} s.", busiest_renderer()))
        _end("--type=renderer")
        if not over.wait(_THEN_S):
            _end("--remote-debugging-pipe")

    watcher = threading.Thread(target=watch, name="watch of a check", daemon=True)
    watcher.start()
    try:
        yield
    except PlaywrightError as error:
        if faults:
            raise faults[0] from error
        raise
    finally:
        over.set()
        watcher.join()


def _end(mark: str) -> None:
    """Ends all processes with this argument: the stuck one may use no processor, and pages share them."""
    for process in _processes(mark):
        with suppress(psutil.NoSuchProcess):  # It has ended by itself.
            process.kill()


def _processes(mark: str) -> Iterator[psutil.Process]:
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # It has ended by itself.
            if mark in child.cmdline():
                yield child
