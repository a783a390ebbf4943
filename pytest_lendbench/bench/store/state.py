"""What the store knows: its epochs, the server's requests, and the connection to that server."""

import asyncio
import contextlib
import itertools
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import psutil

from pytest_lendbench.bench.patience import blame, ended
from pytest_lendbench.bench.store.epoch import Epoch, Result
from pytest_lendbench.bench.store.link import Forged, Link, LinkLost
from pytest_lendbench.bench.store.rows import Rows
from pytest_lendbench.rules.errors import CandidateFault, InstrumentError

BOUND_S = 60.0
"""How long the grader waits for what takes milliseconds, before it asks whose fault it is."""

LOOK_S = 5.0
"""How long the grader waits without asking the server how it is."""

MOST_SILENCES = 2
"""How many such looks in a row an answer may be on its way that the server has ended."""

HUNG_CPU_S = 10.0
"""A server that computes for so long without turning its event loop is hung, whatever else the machine does."""

T = TypeVar("T")


class ServerProcess(Protocol):
    """The server's process, as evidence."""

    @property
    def process(self) -> psutil.Process | None: ...
    def last_words(self) -> str:
        """How it ended and the end of its log. May wait until it has ended."""


@dataclass(slots=True)
class SeenRequest:
    """A request that the server got.

    Attributes:
        number: In the order of arrival, from 1 for each server.
        tag: `None` if it had none.
        inner: The server itself made it. Its tag is that of the request which made it.
        state: `aborted` if the connection was closed before the answer was complete.
    """

    number: int
    tag: str | None
    method: str
    url: str
    inner: bool
    state: Literal["open", "finished", "aborted"] = "open"


class State:
    """Lives in the store's event loop; other threads must not touch it."""

    def __init__(self) -> None:
        self.epoch = Epoch(0, {"items": [], "members": [], "loans": []})
        self.requests: list[SeenRequest] = []
        self.stirred = asyncio.Event()
        self._server: ServerProcess | None = None
        self._link: Link | None = None
        self._port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._greeted = False
        self._forgery = ""
        self._tags: dict[str, Epoch] = {}
        self._page_tags: set[str] = set()
        self._sent: set[str] = set()
        self.overdue = False
        """Whether the server let a bound expire: it is of no more use."""
        self._seen: dict[int, tuple[SeenRequest, Epoch]] = {}
        self._numbers = itertools.count(1)

    # The server.

    async def invite(self) -> socket.socket:
        """Opens a connection for a new server and returns its end, which that server must inherit."""
        self._seen = {}
        self._greeted = False
        self._forgery = ""
        self.overdue = False
        self._port = asyncio.get_running_loop().create_future()
        self._link = Link(self)
        return await self._link.open()

    async def welcome(self, server: ServerProcess) -> int:
        """Waits until the invited server listens, and returns its port.

        Raises:
            CandidateFault: It ended or hung while it started.
            InstrumentError: It did not even come to its preload, or it can't be told.
        """
        self._server = server
        try:
            return await self._patiently(asyncio.create_task(self._listened()), "The server did not listen")
        except LinkLost:
            fault = await self.gone("The server ended while it started.")
        except CandidateFault as error:
            fault = await self.gone(str(error))
        if self._greeted:
            raise fault
        raise InstrumentError(f"{fault} It had not come to any code of the candidate.", "Read its last words.")

    async def _listened(self) -> int:
        return await self._port

    async def detach(self) -> None:
        """Releases everything and closes the connection, at which the server ends."""
        self.epoch.end()
        if self._link is not None:
            link, self._link = self._link, None
            await link.close()

    # Epochs and tags.

    def seed(self, rows: Rows) -> None:
        self.epoch.end()
        self.epoch = Epoch(self.epoch.number + 1, rows)
        self.requests = []

    def begin(self) -> None:
        """A new test, with an empty epoch. Requests with a tag of an earlier test are late, whenever they arrive."""
        self._tags.update(dict.fromkeys(self._page_tags, self.epoch))
        self._page_tags.clear()
        self.seed({"items": [], "members": [], "loans": []})

    def new_tag(self) -> str:
        """A tag for one request, which belongs to this epoch."""
        tag = self.new_page_tag()
        self._page_tags.remove(tag)
        self._tags[tag] = self.epoch
        return tag

    def new_page_tag(self) -> str:
        """A tag for all requests of a browser's page in this test: each belongs to the epoch in which it arrives."""
        tag = f"t{next(self._numbers)}"
        self._page_tags.add(tag)
        return tag

    @contextlib.contextmanager
    def sending(self, tag: str) -> Iterator[None]:
        """While one request with this tag, and of this tag only one, is on its way to the server or being answered."""
        self._sent.add(tag)
        try:
            yield
        finally:
            self._sent.discard(tag)

    def open_requests(self, tag: str) -> int:
        """How many requests with this tag the server has not answered yet, its own to itself left out."""
        seen = [request for request, _ in self._seen.values()]
        return sum(request.tag == tag and request.state == "open" and not request.inner for request in seen)

    async def settle(self) -> dict[str, int]:
        """Returns once nothing in the server can run, other than by an answer of the store.

        Returns:
            By the tag of each open request: how many bytes have been sent on its connection.

        Raises:
            CandidateFault: The server is proven hung or gone.
            InstrumentError: It can't be told on this machine, or there is no server.
        """
        if self._link is None or self._server is None:
            raise InstrumentError("The store has no server that could settle.", "Boot a server with this store first.")
        settling = asyncio.create_task(self._link.settle(lambda: set(self._sent)))
        try:
            written = await self._patiently(settling, "The server did not come to rest")
        except LinkLost:
            raise await self.gone("The server ended while the check ran.") from None
        seen = [(self._seen[number][0], count) for number, count in written.items() if number in self._seen]
        return {request.tag: count for request, count in seen if request.tag is not None and not request.inner}

    async def set_clock(self, now: str) -> None:
        """Sets the clock of the server's desk, and returns once it is set. Errors as for `settle`."""
        if self._link is not None:
            with contextlib.suppress(LinkLost):  # Settling says so.
                self._link.set_clock(now)
        await self.settle()

    @property
    def restless(self) -> list[str]:
        """What settling still waits for, once that takes long."""
        return self._link.restless if self._link else []

    async def answer(self, label: str, tag: str, answering: "asyncio.Task[T]") -> T:
        """Waits for the answer to a request, or for the proof that there will be none.

        Raises:
            CandidateFault: There will be none, or as `settle`.
            InstrumentError: The check itself holds what the request waits for, or as `settle`.
        """
        silences = 0
        while True:
            await asyncio.wait([answering], timeout=LOOK_S)
            if answering.done():
                return answering.result()
            await self.settle()
            if kept := self.epoch.kept():
                names = ", ".join(sorted(kept))
                raise InstrumentError(f"{label}: the check waits for an answer and holds {names}.", "Release it first.")
            silences += 1
            # One that the server has done with may still be on its way to us, for a while.
            if self.open_requests(tag):
                raise self.unanswered([label])
            if silences > MOST_SILENCES:
                raise self.late(str(self.unanswered([label])))

    def unanswered(self, labels: Sequence[str]) -> CandidateFault:
        """The fault of requests without an answer although the server has settled and the store keeps nothing."""
        return CandidateFault(f"{' and '.join(labels)}: no answer, and nothing runs any more that could give one.")

    def late(self, what: str) -> CandidateFault | InstrumentError:
        """Whose fault it is that what the server has done with does not come: the machine is measured."""
        return blame(what, self._server.process if self._server else None)

    async def gone(self, what: str) -> CandidateFault | InstrumentError:
        """The fault of a server that ended, with its last words; the machine's, if that had no memory left."""
        words = [what, self._forgery]
        if self._server is not None:
            words.append(await asyncio.to_thread(self._server.last_words))
        return ended(" ".join(filter(None, words)))

    async def _patiently(self, task: "asyncio.Task[T]", what: str) -> T:
        """Waits for what takes milliseconds, or until it is known why it doesn't come."""
        before, until = self._cpu_s(), time.monotonic() + BOUND_S
        try:
            while True:
                await asyncio.wait([task], timeout=LOOK_S)
                if task.done():
                    return task.result()
                spent = self._cpu_s() - before
                self.overdue = spent >= HUNG_CPU_S or time.monotonic() > until
                if spent >= HUNG_CPU_S:
                    raise CandidateFault(f"{what}: it computed for {spent:.0f} s without a pause.")
                if self.overdue:
                    why = f" Still to come: {', '.join(self.restless)}." if self.restless else ""
                    raise blame(f"{what} within {BOUND_S:.0f} s.{why}", self._server.process if self._server else None)
        finally:
            task.cancel()

    def _cpu_s(self) -> float:
        process = self._server.process if self._server else None
        with contextlib.suppress(psutil.Error):
            return sum(process.cpu_times()[:2]) if process else 0.0
        return 0.0

    # What the server says.

    def hello(self) -> None:
        self._greeted = True

    def listening(self, port: int) -> None:
        if not self._port.done():
            self._port.set_result(port)

    def started(self, request: int, tag: str | None, method: str, url: str, inner: bool) -> None:
        if request != len(self._seen) + 1:
            raise Forged(f"Requests are not numbered like {request}.")
        epoch = self._tags.get(tag or "", self.epoch)
        seen = SeenRequest(request, tag, method, url, inner)
        self._seen[request] = seen, epoch
        if epoch is self.epoch:
            self.requests.append(seen)

    def ended(self, request: int, finished: bool) -> None:
        seen, _ = self._known(request)
        if seen.state != "open":
            raise Forged(f"Request {request} has ended before.")
        seen.state = "finished" if finished else "aborted"

    def asked(self, name: str, args: object, request: int | None, reply: Callable[[Result], None]) -> None:
        seen, epoch = (None, self.epoch) if request is None else self._known(request)
        epoch.admit(name, args, seen.tag if seen else None, request, reply)
        self.stirred.set()

    def _known(self, request: int) -> tuple[SeenRequest, Epoch]:
        if request not in self._seen:
            raise Forged(f"There is no request {request}.")
        return self._seen[request]

    def lost(self, forgery: str) -> None:
        self._forgery = forgery
        if not self._port.done():
            self._port.set_exception(LinkLost())
            self._port.exception()  # asyncio complains of errors that nobody looks at, and perhaps nobody waits
