"""The store of one graded server, for those who write checks. Its work is done in an event loop in a thread."""

import contextlib
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, TypeVar, overload

from pytest_lendbench.bench.store.epoch import Course, Epoch, Holding, Operation
from pytest_lendbench.bench.store.loop import LoopThread
from pytest_lendbench.bench.store.race import Sendable, race
from pytest_lendbench.bench.store.rows import Item, Loan, Member
from pytest_lendbench.bench.store.state import SeenRequest, State
from pytest_lendbench.bench.store.tables import OPERATIONS

T = TypeVar("T")


class Held:
    """Operations that the store keeps waiting. Ends with its `with` block, or with `release`."""

    def __init__(self, loop: LoopThread, epoch: Epoch, holding: Holding) -> None:
        self._loop = loop
        self._epoch = epoch
        self._holding = holding

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What waits now, in the order in which it was asked for."""
        return self._loop.do(lambda: tuple(pending.operation for pending in self._holding.pending))

    @property
    def waiting(self) -> frozenset[str]:
        """The names of what waits now. After `settle`, it is all that will wait."""
        return frozenset(operation.name for operation in self.operations)

    def release(self) -> None:
        """Answers what waits, and lets everything pass from now on. May be done twice."""
        self._loop.do(lambda: self._epoch.release(self._holding))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class Failure:
    """Operations that fail. Ends with its `with` block, or with `undo`."""

    def __init__(self, loop: LoopThread, epoch: Epoch, names: Sequence[str]) -> None:
        self._loop = loop
        self._epoch = epoch
        self._names = list(names)

    def undo(self) -> None:
        """Lets the operations succeed again. May be done twice."""
        names, self._names = self._names, []
        self._loop.do(lambda: self._epoch.failing.subtract(names))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()


class Store:
    """Rows, trace, holds and failures of one server. Use it from any thread."""

    def __init__(self) -> None:
        self._loop = LoopThread("lendbench-store")
        self._state = self._loop.do(State)

    # Rows.

    def begin(self) -> None:
        """Begins a new test: as `seed` without rows, and pages of earlier tests are no longer seen."""
        self._loop.do(self._state.begin)

    def seed(self, *, items: Sequence[Item] = (), members: Sequence[Member] = (), loans: Sequence[Loan] = ()) -> None:
        """Begins a new epoch with these rows and no others.

        Everything that was held is released and every failure healed. Operations of requests that belong to an
        earlier epoch go on, on that epoch's rows, and are no longer seen.

        Raises:
            ValueError: Two rows of a table have one id.
        """
        for rows in (items, members, loans):
            ids = [row["id"] for row in rows]
            if len(set(ids)) < len(ids):
                raise ValueError(f"Ids must differ: {', '.join(sorted(ids))}.")
        self._loop.do(lambda: self._state.seed({"items": list(items), "members": list(members), "loans": list(loans)}))

    @overload
    def rows(self, table: Literal["items"]) -> list[Item]: ...
    @overload
    def rows(self, table: Literal["members"]) -> list[Member]: ...
    @overload
    def rows(self, table: Literal["loans"]) -> list[Loan]: ...
    def rows(self, table: Literal["items", "members", "loans"]) -> Sequence[Item | Member | Loan]:
        """A copy of what is true now, in the order of writing."""
        return self._loop.do(lambda: self._state.epoch.tables.rows()[table])

    # What was asked.

    @property
    def trace(self) -> tuple[Operation, ...]:
        """All operations of this epoch, in the order in which they were asked for."""
        return self._loop.do(lambda: tuple(self._state.epoch.trace))

    @property
    def courses(self) -> tuple[Course, ...]:
        """As `trace`, with when each was asked for and answered. A copy."""
        return self._loop.do(lambda: tuple(replace(course) for course in self._state.epoch.courses))

    def asked(self, tag: str | None = None) -> list[str]:
        """The names in `trace`, of one request's tag only if it is given."""
        return [operation.name for operation in self.trace if tag is None or operation.tag == tag]

    @property
    def requests(self) -> tuple[SeenRequest, ...]:
        """All requests of this epoch that reached the server, in the order of arrival."""
        return self._loop.do(lambda: tuple(self._state.requests))

    def open_requests(self, tag: str) -> int:
        """How many requests with this tag the server has not answered yet, its own to itself left out."""
        return self._loop.do(lambda: self._state.open_requests(tag))

    def new_tag(self) -> str:
        """A tag for all requests of a browser's page in this test: its value of the header `x-lendbench-tag`."""
        return self._loop.do(self._state.new_page_tag)

    # What is in the grader's hands.

    def fail(self, *names: str) -> Failure:
        """Lets operations of these names fail from now on, also those that are held now, once they are released.

        Raises:
            ValueError: There is no such operation.
        """
        _must_exist(names)
        epoch = self._loop.do(lambda: self._state.epoch)
        self._loop.do(lambda: epoch.failing.update(names))
        return Failure(self._loop, epoch, names)

    def hold(self, *names: str) -> Held:
        """Keeps operations of these names waiting from now on; without a name, all operations.

        Raises:
            ValueError: There is no such operation.
        """
        _must_exist(names)
        epoch = self._loop.do(lambda: self._state.epoch)
        return Held(self._loop, epoch, self._loop.do(lambda: epoch.hold(frozenset(names) or None)))

    @contextlib.contextmanager
    def held(self, *names: str) -> Iterator[Held]:
        """`hold` for the length of a `with` block."""
        with self.hold(*names) as held:
            yield held

    def settle(self) -> None:
        """Returns when nothing in the server can run: what waits now is all there will be.

        It waits first until the desk's requests have arrived, bodies and all. Timers of a second and more, intervals
        and unreferenced timers are not waited for.

        Raises:
            CandidateFault: The server is proven hung or gone.
            InstrumentError: It can't be told on this machine.
        """
        self._loop.wait_for(self._state.settle())

    def race(self, one: Sendable[T], other: Sendable[T], *, first: Literal[0, 1] = 0) -> tuple[T, T]:
        """Sends two requests at the same moment and lets them go on in lockstep until both are answered.

        Everything is held. Once both bodies have arrived and the server has settled, all reads that wait are answered;
        where none waits, one write: the earliest of `one`, or of `other` where `one` has none (with `first=1` the other
        way round). Then it settles again, and so on. At the end everything is released.

        Returns:
            The answers to `one` and `other`.

        Raises:
            CandidateFault: The server hung or ended, or a request got no answer.
            InstrumentError: It can't be told on this machine.
        """
        answers = self._loop.wait_for(race(self._state, (one, other), first))
        return answers[0], answers[1]

    # For the server and the desk.

    @property
    def overdue(self) -> bool:
        """Whether the server let a bound expire: it is of no more use."""
        return self._state.overdue

    def run(self, work: Callable[[State], Coroutine[Any, Any, T]]) -> T:
        """Runs work on the store's state in its event loop and waits for it."""
        return self._loop.wait_for(work(self._state))

    def disconnect(self) -> None:
        """Releases everything and ends the connection, at which the server ends. May be done twice."""
        if self._loop.running:
            self.run(State.detach)

    def close(self) -> None:
        """Disconnects and ends the store's thread. May be done twice."""
        try:
            self.disconnect()
        finally:
            self._loop.close()


def _must_exist(names: Sequence[str]) -> None:
    if unknown := set(names) - OPERATIONS:
        raise ValueError(f"No such operation: {', '.join(sorted(unknown))}. There are {', '.join(sorted(OPERATIONS))}.")
