"""Two requests in lockstep, so that code which may race does race, every time, and code which can't never does."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from pytest_lendbench.bench.store.epoch import Holding, Pending
from pytest_lendbench.bench.store.state import LOOK_S, MOST_SILENCES, State
from pytest_lendbench.bench.store.tables import WRITES
from pytest_lendbench.rules.errors import CandidateFault

MAX_ROUNDS = 1000
"""Far more rounds than any two requests need that come to an end."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Sendable(Protocol[T_co]):
    """A request that is not sent yet."""

    @property
    def label(self) -> str: ...
    def exchange(self, state: State, tag: str) -> Coroutine[Any, Any, T_co]: ...


async def race(state: State, requests: Sequence[Sendable[T]], first: int) -> list[T]:
    """Holds everything and lets the requests go on round by round; see `Store.race`.

    Raises:
        CandidateFault: The server hung or ended, or a request got no answer.
        InstrumentError: It can't be told on this machine.
    """
    epoch = state.epoch
    tags = [state.new_tag() for _ in requests]
    order = [tags[first], *tags[:first], *tags[first + 1 :]]
    holding = epoch.hold(None)
    exchanges = [asyncio.create_task(request.exchange(state, tag)) for request, tag in zip(requests, tags, strict=True)]
    silences = 0
    try:
        for _ in range(MAX_ROUNDS):
            state.stirred.clear()
            await state.settle()
            if holding.pending:
                epoch.let_go(holding, _next_round(holding, order))
                silences = 0
            elif all(exchange.done() for exchange in exchanges):
                return [exchange.result() for exchange in exchanges]
            elif silences and (labels := _open(state, requests, tags)):
                raise state.unanswered(labels)
            elif silences > MOST_SILENCES:
                waiting = zip(requests, exchanges, strict=True)
                labels = [request.label for request, exchange in waiting if not exchange.done()]
                raise state.late(str(state.unanswered(labels)))
            else:
                silences = 0 if await _something(state, exchanges) else silences + 1
        raise CandidateFault(f"Two requests at once were not answered after {MAX_ROUNDS} rounds of reads and writes.")
    finally:
        epoch.release(holding)
        for exchange in exchanges:
            exchange.cancel()
        await asyncio.gather(*exchanges, return_exceptions=True)


def _next_round(holding: Holding, order: Sequence[str]) -> list[Pending]:
    """All reads that wait; if none does, one write."""
    reads = [pending for pending in holding.pending if pending.operation.name not in WRITES]
    if reads:
        return reads

    def rank(pending: Pending) -> tuple[int, int]:
        tag = pending.operation.tag
        return order.index(tag) if tag in order else len(order), pending.operation.seq

    return [min(holding.pending, key=rank)]


def _open(state: State, requests: Sequence[Sendable[Any]], tags: Sequence[str]) -> list[str]:
    return [request.label for request, tag in zip(requests, tags, strict=True) if state.open_requests(tag)]


async def _something(state: State, exchanges: Sequence[asyncio.Task[Any]]) -> bool:
    """Waits until an answer has come or an operation is asked for; `False` if neither happens for a while."""
    stirred = asyncio.create_task(state.stirred.wait())
    running = [exchange for exchange in exchanges if not exchange.done()]
    try:
        done, _ = await asyncio.wait([stirred, *running], timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        stirred.cancel()
