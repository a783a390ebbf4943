"""When nothing can happen any more in a page and in the server behind it, other than what the store holds.

Timers of the page are not waited for: when nothing else goes on, the one that is due next is fired early, as if its
time had come. So a page comes to rest in the time that its work takes, and never misses what a timer brings.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

import psutil
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, Request

from pytest_lendbench.bench.patience import blame

if TYPE_CHECKING:
    from collections.abc import Iterator

BOUND_S = 60.0
"""When neither an answer nor rest has come by then, the machine is measured."""

_LONGEST_MS = 5_000.0
"""What comes later by the page's own clock is no part of an answer to a person's action."""

_MOST_TIMERS = 100
"""A page that sets one timer after another is never without one: after so many it counts as at rest."""


class Server(Protocol):
    """What of a server a page's rest depends on."""

    @property
    def url(self) -> str: ...
    def settle(self) -> None: ...
    def open_requests(self, tag: str) -> int: ...


class Rest:
    """Of one page, as long as it is attached.

    Args:
        page: Which runs `node/page.js` before its own scripts.
        server: Whom it asks.
        tag: Of the page's requests.
    """

    def __init__(self, page: Page, server: Server, tag: str) -> None:
        self._page = page
        self._server = server
        self._tag = tag
        self._unfinished: set[Request] = set()
        self._begun = 0

    def begin(self, request: Request) -> None:
        """The page has begun a request."""
        self._begun += 1
        self._unfinished.add(request)

    def end(self, request: Request) -> None:
        """A request has its answer, or will have none."""
        self._unfinished.discard(request)

    def moments(self) -> Iterator[None]:
        """Brings page and server to rest step by step: stops whenever nothing but a timer of the page can go on.

        Raises:
            CandidateFault: The server or the page is proven hung or gone.
            InstrumentError: It can't be told on this machine.
        """
        left_ms = _LONGEST_MS
        for _ in range(_MOST_TIMERS):
            timer = self._still()
            yield
            if timer is None or timer["wait"] > left_ms:
                return
            left_ms -= timer["wait"]
            self._ask(f"fire({timer['id']})")

    def come(self) -> None:
        """Brings page and server to rest. Errors as for `moments`."""
        for _ in self.moments():
            pass

    def _still(self) -> dict[str, Any] | None:
        """Waits until nothing but timers goes on. Returns the next one and the ms until it is due, if any."""
        until = time.monotonic() + BOUND_S
        while time.monotonic() < until:
            begun = self._begun
            self._server.settle()
            answer = self._ask("still()")
            on_the_way = len(self._unfinished) > self._server.open_requests(self._tag)
            if answer and begun == self._begun and not on_the_way:
                timer: dict[str, Any] | None = answer[0]
                return timer
        raise blame("The page did not come to rest: it asks the server again and again.", None)

    def _ask(self, what: str) -> list[Any]:
        """Has `node/page.js` do something. Returns its answer as the one entry; none: it was left meanwhile."""
        try:
            # Unlike `evaluate` it can be given up. It waits for something true, such as a list.
            answer = self._page.wait_for_function(
                f"() => window.lendbench.{what}.then((it) => [it])", timeout=BOUND_S * 1000
            )
            return list(answer.json_value())
        except PlaywrightError as error:
            if "navigat" in str(error) or "context was destroyed" in str(error):
                return []
            raise blame(f"The page does not answer: {error.message}", busiest_renderer()) from error


def busiest_renderer() -> psutil.Process | None:
    """The renderer of this process' browser that used most CPU, as evidence of a page in an endless loop."""
    renderers = [child for child in psutil.Process().children(recursive=True) if "--type=renderer" in child.cmdline()]
    return max(renderers, key=lambda child: sum(child.cpu_times()[:2]), default=None)
