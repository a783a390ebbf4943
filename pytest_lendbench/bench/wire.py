"""One HTTP request on a connection of its own, whose bytes are counted: so a wait for what was sent has an end."""

import asyncio
import contextlib

import h11
import httpx

TAG_HEADER = "x-lendbench-tag"
"""Tells the graded server's preload, and through it the store, which request an operation belongs to."""

_LONGEST_HEAD = 1024 * 1024
_LONGEST_BODY = 32 * 1024 * 1024
"""A hundred times what any page of the app has. What takes a document apart holds many times as much in memory."""
_ARRIVES_S = 60.0
"""How long what the server has sent already may take to be here: far longer than any machine needs."""


class BadAnswer(Exception):  # noqa: N818
    """The connection broke, or what came over it is no HTTP answer. The message says which."""


class Exchange:
    """A request that is sent, and what has come back so far."""

    def __init__(self, request: httpx.Request, tag: str) -> None:
        self._request = request
        self._extra = [(b"connection", b"close"), (TAG_HEADER.encode(), tag.encode())]
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
        self._receiving: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()
        self._bytes = 0
        self._closed = False
        self._over = False
        self.status = 0
        self.headers = httpx.Headers()
        self.body = bytearray()

    async def begin(self) -> None:
        """Sends the whole request and begins to receive.

        Raises:
            BadAnswer: Nobody takes it.
        """
        url = self._request.url
        try:
            reader, writer = await asyncio.open_connection(url.host, url.port)
        except ConnectionError as error:
            raise BadAnswer(f"the server took no connection ({error}).") from error
        headers = [*self._request.headers.raw, *self._extra]
        head = h11.Request(method=self._request.method, target=url.raw_path, headers=headers)
        for event in (head, h11.Data(data=self._request.read()), h11.EndOfMessage()):
            writer.write(self._http.send(event) or b"")
        self._receiving = asyncio.create_task(self._receive(reader, writer))

    async def received(self, count: int | None) -> bytes:
        """Waits for this many bytes (head and framing count; `None`: all of them) and returns the body so far.

        Raises:
            TimeoutError: They do not come, although the server says that it has sent them.
        """
        async with asyncio.timeout(_ARRIVES_S):
            while not self._over and (count is None or self._bytes < count):
                self._moved.clear()
                await self._moved.wait()
        return bytes(self.body)

    async def finish(self) -> None:
        """Waits for the end of the answer.

        Raises:
            BadAnswer: It did not come to a proper end.
        """
        if self._receiving is not None:
            await asyncio.shield(self._receiving)

    async def abandon(self) -> None:
        """Closes the connection, whatever has come. May be done twice."""
        if self._receiving is not None:
            self._receiving.cancel()
            with contextlib.suppress(asyncio.CancelledError, BadAnswer):
                await self._receiving

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                event = self._http.next_event()
                if event is h11.NEED_DATA:
                    self._moved.set()
                    data = await reader.read(65536)
                    self._bytes += len(data)
                    self._closed = not data
                    self._http.receive_data(data)
                elif isinstance(event, h11.Response):
                    self.status, self.headers = event.status_code, httpx.Headers(list(event.headers))
                elif isinstance(event, h11.Data):
                    self.body += event.data
                    if len(self.body) > _LONGEST_BODY:
                        raise BadAnswer(f"the answer is longer than {_LONGEST_BODY:,} bytes.")
                elif isinstance(event, h11.EndOfMessage):
                    return
        except ConnectionError as error:
            raise BadAnswer(f"the connection broke ({error}).") from error
        except h11.RemoteProtocolError as error:
            why = "the connection was closed before the answer's end" if self._closed else f"no HTTP answer ({error})"
            raise BadAnswer(f"{why}.") from error
        finally:
            self._over = True
            self._moved.set()
            writer.close()
