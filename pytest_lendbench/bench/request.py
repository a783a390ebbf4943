"""A request that can be sent, and its answer."""

import json
from dataclasses import dataclass
from typing import Any

import httpx

from pytest_lendbench.bench.store.state import State
from pytest_lendbench.bench.wire import BadAnswer, Exchange
from pytest_lendbench.rules.errors import CandidateFault

_SHOWN = 300


@dataclass(frozen=True)
class Answer:
    """A complete answer.

    Attributes:
        label: What was asked: `GET /items`.
        tag: The request's tag: `store.asked(answer.tag)` tells what it asked the store for.
        status: The HTTP status. Redirects are answers like others.
        headers: Names in any case.
        body: As it came; nothing is compressed.
    """

    label: str
    tag: str
    status: int
    headers: httpx.Headers
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", errors="replace")

    def json(self) -> Any:
        """The body as JSON.

        Raises:
            CandidateFault: It is none.
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            shown = self.text[:_SHOWN]
            raise CandidateFault(
                f"{self.label} answered {self.status} with something that is no JSON: {shown!r}"
            ) from None


class Request:
    """A request that is not sent yet; `store.race` takes two. Made by `Desk.prepare` and `Desk.prepare_replay`."""

    def __init__(self, message: httpx.Request) -> None:
        message.read()
        self._message = message
        self.label = f"{message.method} {message.url.raw_path.decode()}"

    def begin(self, tag: str) -> Exchange:
        return Exchange(self._message, tag)

    async def converse(self, exchange: Exchange, state: State, tag: str) -> Answer:
        """Sends the request and waits for the whole answer, for ever. Runs in the store's event loop.

        Raises:
            CandidateFault: The server refused or broke the connection, or gave no HTTP answer.
        """
        try:
            with state.sending(tag):
                await exchange.begin()
                await exchange.finish()
        except BadAnswer as error:
            raise await state.gone(f"{self.label}: {error}") from error
        finally:
            await exchange.abandon()
        return Answer(self.label, tag, exchange.status, exchange.headers, bytes(exchange.body))

    async def exchange(self, state: State, tag: str) -> Answer:
        """`converse`, from the start."""
        return await self.converse(self.begin(tag), state, tag)
