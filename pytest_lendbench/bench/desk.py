"""The HTTP client for those who write checks: each request has its own tag and its own connection."""

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol, Self

import httpx

from pytest_lendbench.bench.request import Answer, Request
from pytest_lendbench.bench.server import AppServer
from pytest_lendbench.bench.store.state import State
from pytest_lendbench.bench.store.store import Store


class CapturedRequest(Protocol):
    """A request as a browser would have sent it, without its cookie."""

    @property
    def method(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def body(self) -> bytes: ...


class Opening:
    """A request under way. Its connection is closed at the end of the `with` block if `finish` was not called."""

    def __init__(self, store: Store, request: Request) -> None:
        self._store = store
        self._request = request
        store.run(self._start)

    async def _start(self, state: State) -> None:
        self.tag = state.new_tag()
        self._exchange = self._request.begin(self.tag)
        self._answering = asyncio.create_task(self._request.converse(self._exchange, state, self.tag))

    def received_text(self) -> str:
        """Settles the server and returns the whole body that it has sent so far.

        Raises:
            CandidateFault, InstrumentError: As `Store.settle`; or it has not sent what it says it has.
        """
        return self._store.run(self._received).decode("utf-8", errors="replace")

    async def _received(self, state: State) -> bytes:
        sent = await state.settle()
        try:
            return await self._exchange.received(sent.get(self.tag))
        except TimeoutError:
            raise state.late(f"{self._request.label}: what the server says it has sent does not come.") from None

    def finish(self) -> Answer:
        """Waits for the whole answer.

        Raises:
            CandidateFault, InstrumentError: As `Desk.send`.
        """
        return self._store.run(self._finished)

    async def _finished(self, state: State) -> Answer:
        return await state.answer(self._request.label, self.tag, self._answering)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.run(self._abandon)

    async def _abandon(self, _state: State) -> None:
        self._answering.cancel()
        await asyncio.gather(self._answering, return_exceptions=True)


class Desk:
    """Talks to one server. `staff` is a staff member's id (`st-imke`), `None` a visitor."""

    def __init__(self, server: AppServer, store: Store) -> None:
        self._server = server
        self._store = store

    def get(self, path: str, *, staff: str | None = None, headers: Mapping[str, str] | None = None) -> Answer:
        """Gets a path of the app. Errors as for `send`."""
        return self.request("GET", path, staff=staff, headers=headers)

    def post_json(
        self, path: str, body: Any, *, staff: str | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Posts JSON to a path of the app. Errors as for `send`."""
        return self.request("POST", path, staff=staff, headers=headers, json=body)

    def request(
        self, method: str, path: str, *, staff: str | None = None, headers: Mapping[str, str] | None = None, **body: Any
    ) -> Answer:
        """Prepares a request (see `prepare`) and sends it (see `send`)."""
        return self.send(self.prepare(method, path, staff=staff, headers=headers, **body))

    def prepare(
        self, method: str, path: str, *, staff: str | None = None, headers: Mapping[str, str] | None = None, **body: Any
    ) -> Request:
        """A request to send later. `body` is what `httpx.Request` takes: `json=`, `content=`, `data=`, `files=`."""
        return self._prepared(method, self._server.url + path, staff, headers or {}, **body)

    def prepare_replay(
        self, captured: CapturedRequest, *, staff: str | None = None, replace: Mapping[str, str] | None = None
    ) -> Request:
        """A browser's request to send later, by whomever, with some texts of its body replaced.

        Raises:
            ValueError: The body holds no such text.
        """
        body = captured.body
        for old, new in (replace or {}).items():
            if old.encode() not in body:
                raise ValueError(f"The request's body holds no {old!r}.")
            body = body.replace(old.encode(), new.encode())
        url = self._server.url + httpx.URL(captured.url).raw_path.decode()
        return self._prepared(captured.method, url, staff, captured.headers, content=body)

    def replay(
        self, captured: CapturedRequest, *, staff: str | None = None, replace: Mapping[str, str] | None = None
    ) -> Answer:
        """Prepares a browser's request (see `prepare_replay`) and sends it (see `send`)."""
        return self.send(self.prepare_replay(captured, staff=staff, replace=replace))

    def send(self, request: Request) -> Answer:
        """Sends a request and waits for the whole answer.

        Raises:
            CandidateFault: The server gave no complete answer and never will.
            InstrumentError: The check itself holds what the answer waits for, or it can't be told.
        """
        with Opening(self._store, request) as opening:
            return opening.finish()

    def opening(self, path: str, *, staff: str | None = None, headers: Mapping[str, str] | None = None) -> Opening:
        """Begins to get a page and doesn't wait for it."""
        return self.begin(self.prepare("GET", path, staff=staff, headers=headers))

    def begin(self, request: Request) -> Opening:
        """Sends a request and doesn't wait for its answer."""
        return Opening(self._store, request)

    def _prepared(self, method: str, url: str, staff: str | None, headers: Mapping[str, str], **body: Any) -> Request:
        given = httpx.Headers(headers)
        given["accept-encoding"] = "identity"
        if staff is not None:
            given["cookie"] = self._server.staff_cookie(staff)
        return Request(httpx.Request(method, url, headers=given, **body))
