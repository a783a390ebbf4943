"""One test's time in the store: its rows, what was asked for, and what waits. A new seed begins a new epoch."""

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pytest_lendbench.bench.store.rows import CANARY, Rows
from pytest_lendbench.bench.store.tables import OperationError, Tables


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation that the server asked for.

    Attributes:
        seq: Its place among the epoch's operations, from 1.
        name: Such as `loans.list`.
        args: Its arguments, as they came.
        tag: The tag of its request; `None` if it belongs to no request or to one without a tag.
        request: The number of its request; `None` if it belongs to none.
    """

    seq: int
    name: str
    args: Any
    tag: str | None
    request: int | None


@dataclass(frozen=True, slots=True)
class Result:
    """What an operation is answered: a value, or the text of the error that it raises in the app."""

    value: Any = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """An operation that is not answered yet."""

    operation: Operation
    reply: Callable[[Result], None]


@dataclass(slots=True)
class Course:
    """When an operation was asked for and answered, for a picture of it; no verdict rests on it.

    Attributes:
        operation: Which.
        asked_s: Seconds since the epoch began.
        asked_step: Its place among everything that was asked and answered in the epoch, from 0.
        held: Whether a hold kept it waiting.
        answered_s: As `asked_s`; `None` if it waits still.
        answered_step: As `asked_step`.
        failed: Whether it was answered with an error.
    """

    operation: Operation
    asked_s: float
    asked_step: int
    held: bool = False
    answered_s: float | None = None
    answered_step: int | None = None
    failed: bool = False


@dataclass(eq=False, slots=True)
class Holding:
    """Keeps operations waiting. `names` is `None` for all of them."""

    names: frozenset[str] | None
    pending: list[Pending] = field(default_factory=list)

    def covers(self, name: str) -> bool:
        return self.names is None or name in self.names


class Epoch:
    """Rows, trace, holds and failures. Lives in the store's event loop."""

    def __init__(self, number: int, rows: Rows) -> None:
        self.number = number
        self.tables = Tables(rows)
        self.trace: list[Operation] = []
        self.courses: list[Course] = []
        self.failing: Counter[str] = Counter()
        self._holdings: list[Holding] = []
        self._begun_s = time.monotonic()
        self._steps = itertools.count()

    def admit(
        self, name: str, args: object, tag: str | None, request: int | None, reply: Callable[[Result], None]
    ) -> None:
        """Takes an operation in: answers it now, or lets it wait for the first hold that covers it."""
        operation = Operation(len(self.trace) + 1, name, args, tag, request)
        self.trace.append(operation)
        self.courses.append(Course(operation, self._now_s(), next(self._steps)))
        self._pass(Pending(operation, reply))

    def hold(self, names: frozenset[str] | None) -> Holding:
        holding = Holding(names)
        self._holdings.append(holding)
        return holding

    def let_go(self, holding: Holding, chosen: Iterable[Pending]) -> None:
        """Answers some of what a hold keeps, in this order. The hold goes on."""
        for pending in chosen:
            holding.pending.remove(pending)
            self._answer(pending)

    def release(self, holding: Holding) -> None:
        """Ends a hold. What it kept is answered, first come first served, unless another hold covers it."""
        if holding in self._holdings:
            self._holdings.remove(holding)
        kept, holding.pending = holding.pending, []
        for pending in kept:
            self._pass(pending)

    def kept(self) -> set[str]:
        """The names of the operations that a hold keeps now."""
        return {pending.operation.name for holding in self._holdings for pending in holding.pending}

    def end(self) -> None:
        """Releases everything and heals every failure: late operations pass, on this epoch's own rows."""
        self.failing.clear()
        for holding in list(self._holdings):
            self.release(holding)

    def _pass(self, pending: Pending) -> None:
        for holding in self._holdings:
            if holding.covers(pending.operation.name):
                holding.pending.append(pending)
                self.courses[pending.operation.seq - 1].held = True
                return
        self._answer(pending)

    def _answer(self, pending: Pending) -> None:
        result = self._run(pending.operation)
        course = self.courses[pending.operation.seq - 1]
        course.answered_s, course.answered_step = self._now_s(), next(self._steps)
        course.failed = result.error is not None
        pending.reply(result)

    def _now_s(self) -> float:
        return time.monotonic() - self._begun_s

    def _run(self, operation: Operation) -> Result:
        if self.failing[operation.name] > 0:
            return Result(error=f"{operation.name} failed ({CANARY}-failure)")
        try:
            return Result(value=self.tables.run(operation.name, operation.args))
        except OperationError as error:
            return Result(error=str(error))
