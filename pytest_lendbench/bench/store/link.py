"""The connection to one server's preload: one ordered stream of JSON lines in each direction.

A candidate's code runs in the same process and can write into the connection. What our preload would not say, or not
now, ends the connection and with it the server.
"""

import asyncio
import contextlib
import itertools
import json
import secrets
import socket
from collections.abc import Callable, Collection, Iterable
from typing import Any, Protocol

from pytest_lendbench.bench.store.epoch import Result

_LONGEST_LINE = 64 * 1024 * 1024
_SHOWN = 200


class LinkLost(Exception):  # noqa: N818
    """The server's end of the connection is gone, and so is the server."""


class Forged(Exception):  # noqa: N818 (the fault is the candidate's; it never leaves the store as an error)
    """Our preload has not said this."""


class Listener(Protocol):
    """Who hears what the preload says, in the order in which it happened. Each may raise `Forged`."""

    def hello(self) -> None: ...
    def listening(self, port: int) -> None: ...
    def started(self, request: int, tag: str | None, method: str, url: str, inner: bool) -> None: ...
    def ended(self, request: int, finished: bool) -> None: ...
    def asked(self, name: str, args: object, request: int | None, reply: Callable[[Result], None]) -> None: ...
    def lost(self, forgery: str) -> None: ...


class Link:
    """Speaks to one server. Lives in the store's event loop."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._answers = 0
        self._settles: dict[int, asyncio.Future[dict[int, int]]] = {}
        self._unanswered: set[int] = set()
        self._operations = itertools.count(1)
        self._one_at_a_time = asyncio.Lock()
        self.restless: list[str] = []
        """What the server said last that settling waits for. It says so after some seconds."""

    async def open(self) -> socket.socket:
        """Opens the connection. The server's end is returned: it is inherited by the server, then closed here."""
        ours, theirs = socket.socketpair()
        reader, self._writer = await asyncio.open_unix_connection(sock=ours, limit=_LONGEST_LINE)
        self._reading = asyncio.create_task(self._read(reader))
        return theirs

    async def close(self) -> None:
        """Closes the connection, at which the server ends. May be done twice."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    def set_clock(self, now: str) -> None:
        """Sets the clock of the server's desk. It is set once the server has settled.

        Raises:
            LinkLost: The server is gone.
        """
        self._send({"now": now})

    async def settle(self, tags: Callable[[], Iterable[str]]) -> dict[int, int]:
        """Returns once nothing in the server can run, other than by an answer of the store, and all has been heard.

        Args:
            tags: Says which requests have been sent and may not have arrived yet. The server waits for them.

        Returns:
            For each request that is open in the server: how many bytes its connection has been sent.

        Raises:
            LinkLost: The server is gone.
        """
        async with self._one_at_a_time:
            self.restless = []
            while True:
                answers, expected = self._answers, set(tags())
                written = await self._settle_once(expected)
                # An answer that was on its way to the server may have made it go on after it had looked.
                if answers == self._answers and set(tags()) <= expected:
                    return written

    async def _settle_once(self, tags: Collection[str]) -> dict[int, int]:
        number = secrets.randbelow(2**48)  # nobody can answer in advance
        self._unanswered.add(number)
        future: asyncio.Future[dict[int, int]] = asyncio.get_running_loop().create_future()
        self._settles[number] = future
        try:
            self._send({"settle": number, "tags": sorted(tags)})
            return await future
        finally:
            del self._settles[number]

    def _send(self, message: dict[str, Any]) -> None:
        if self._writer is None or self._writer.is_closing() or self._reading is None or self._reading.done():
            raise LinkLost
        self._writer.write(json.dumps(message).encode() + b"\n")

    async def _read(self, reader: asyncio.StreamReader) -> None:
        forgery = ""
        try:
            with contextlib.suppress(ConnectionError):
                while line := await reader.readline():
                    self._hear(_parsed(line))
        except (Forged, ValueError) as error:  # ValueError: a line without end
            forgery = f"Its process wrote into the grader's own connection. {error}"
        finally:
            if self._writer is not None:
                self._writer.close()
            for future in self._settles.values():
                if not future.done():
                    future.set_exception(LinkLost())
            self._listener.lost(forgery)

    def _hear(self, message: Any) -> None:
        match message:
            case {"run": int(number), "name": str(name), "request": int() | None as request}:
                if number != next(self._operations):
                    raise Forged(f"Operations are not numbered like {number}.")
                self._listener.asked(name, message.get("args"), request, lambda result: self._reply(number, result))
            case {"settled": int(number), "written": list(written)}:
                self._settled(number, written)
            case {
                "start": int(request),
                "tag": str() | None as tag,
                "method": str(method),
                "url": str(url),
                "inner": bool(inner),
            }:
                self._listener.started(request, tag, method, url, inner)
            case {"end": int(request), "finished": bool(finished)}:
                self._listener.ended(request, finished)
            case {"restless": list(reasons)}:
                self.restless = [str(reason) for reason in reasons]
            case {"listening": int(port)}:
                self._listener.listening(port)
            case {"hello": _}:
                self._listener.hello()
            case _:
                raise Forged(f"It said {str(message)[:_SHOWN]!r}.")

    def _settled(self, number: int, written: list[Any]) -> None:
        if number not in self._unanswered:
            raise Forged("Nobody has asked whether it has settled.")
        self._unanswered.remove(number)
        asking = self._settles.get(number)
        if asking is not None and not asking.done():
            asking.set_result(_counts(written))

    def _reply(self, number: int, result: Result) -> None:
        self._answers += 1
        content = {"value": result.value} if result.error is None else {"error": result.error}
        with contextlib.suppress(LinkLost):
            self._send({"run": number, **content})


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise Forged(f"It said {line[:_SHOWN]!r}.") from None


def _counts(written: list[Any]) -> dict[int, int]:
    counts = {}
    for pair in written:
        match pair:
            case [int(request), int(count)]:
                counts[request] = count
            case _:
                raise Forged(f"It said {str(pair)[:_SHOWN]!r}.")
    return counts
