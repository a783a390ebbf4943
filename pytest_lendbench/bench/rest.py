"""When nothing can happen any more in a page and in the server behind it, other than what the store holds.

Timers of the page are not waited for: when nothing else goes on, the one that is due next is fired early, as if its
time had come. So a page comes to rest in the time that its work takes, and never misses what a timer brings.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, Request

from pytest_lendbench.bench.patience import blame
from pytest_lendbench.bench.renderers import bounded, busiest_renderer

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

    Attributes:
        skipped_ms: How far the page's clock was put forward on the last way to rest.
    """

    def __init__(self, page: Page, server: Server, tag: str) -> None:
        self._page = page
        self._server = server
        self._tag = tag
        self._unfinished: set[Request] = set()
        self._begun = 0
        self.skipped_ms = 0.0

    def begin(self, request: Request) -> None:
        """The page has begun a request."""
        self._begun += 1
        self._unfinished.add(request)

    def end(self, request: Request) -> None:
        """A request has its answer, or will have none."""
        self._unfinished.discard(request)

    def moments(self, within_ms: float = _LONGEST_MS, *, held: bool = False) -> Iterator[None]:
        """Brings page and server to rest step by step: stops whenever nothing but a timer of the page can go on.

        Args:
            within_ms: By the page's clock; what comes later is not waited for.
            held: Whether timers fire also while the store holds an answer back, and intervals also without a timer.

        Raises:
            CandidateFault: The server or the page is proven hung or gone.
            InstrumentError: It can't be told on this machine.
        """
        self.skipped_ms = 0.0
        for _ in range(_MOST_TIMERS):
            timer = self._still(within_ms, intervals=held)
            yield
            # While the store holds an answer back, time stands still: nothing is given up for being late.
            if timer is None or (self._unfinished and not held) or timer["wait"] > within_ms - self.skipped_ms:
                return
            self.skipped_ms += sum(self._ask(f"fire({timer['id']}, {timer['origin']})"))

    def come(self) -> None:
        """Brings page and server to rest. Errors as for `moments`."""
        for _ in self.moments():
            pass

    def _still(self, within_ms: float, *, intervals: bool) -> dict[str, Any] | None:
        """Waits until nothing but timers goes on. Returns the next one and the ms until it is due, if any."""
        until = time.monotonic() + BOUND_S
        while time.monotonic() < until:
            begun = self._begun
            self._server.settle()
            # An answer that comes while the page is asked may have come after it was found still.
            all_here = self._all_here()
            answer = self._ask(f"still({within_ms}, {int(intervals)})")
            if answer and all_here and begun == self._begun and self._all_here():
                timer: dict[str, Any] | None = answer[0]
                return timer
        raise blame("The page did not come to rest: it asks the server again and again.", None)

    def _all_here(self) -> bool:
        """Whether no request is on its way to the server, and no answer from it."""
        return len(self._unfinished) <= self._server.open_requests(self._tag)

    def _ask(self, what: str) -> list[Any]:
        """Has `node/page.js` do something. Returns its answer as the one entry; none: it was left meanwhile."""
        try:
            with bounded(2 * BOUND_S):
                return list(self._page.evaluate(f"() => window.lendbench.{what}.then((it) => [it])"))
        except PlaywrightError as error:
            if "navigat" in str(error) or "context was destroyed" in str(error):
                return []
            raise blame(f"The page does not answer: {error.message}", busiest_renderer()) from error
