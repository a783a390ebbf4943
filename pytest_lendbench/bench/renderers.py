"""The processes of the pages of this process' browser.

A page in an endless loop never answers, whatever time-out Playwright is given.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator


def busiest_renderer() -> psutil.Process | None:
    """The renderer that used most CPU, as evidence of a page in an endless loop."""
    used: dict[psutil.Process, float] = {}
    for renderer in renderers():
        with suppress(psutil.NoSuchProcess):  # It has ended by itself.
            used[renderer] = sum(renderer.cpu_times()[:2])
    return max(used, key=used.__getitem__, default=None)


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Ends the pages' processes if what is done inside takes longer."""
    watch = threading.Timer(seconds, end_renderers)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def end_renderers() -> None:
    """Ends all of them: the stuck one may use no processor, and pages share them."""
    for renderer in renderers():
        with suppress(psutil.NoSuchProcess):  # It has ended by itself.
            renderer.kill()


def renderers() -> Iterator[psutil.Process]:
    """The renderers that there are."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # It has ended by itself.
            if "--type=renderer" in child.cmdline():
                yield child
