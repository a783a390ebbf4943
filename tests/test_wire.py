"""What comes over a connection, and what doesn't although the server says so."""

import asyncio

import httpx
import pytest

from pytest_lendbench.bench import wire
from pytest_lendbench.bench.wire import BadAnswer, Exchange


def exchanged(answer, ask):
    """Begins a request to a server that answers this and then leaves the connection open, and asks the exchange."""

    async def run():
        async def serve(_, writer):
            writer.write(answer)

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        exchange = Exchange(httpx.Request("GET", f"http://127.0.0.1:{port}/"), "t1")
        try:
            await exchange.begin()
            return await ask(exchange)
        finally:
            await exchange.abandon()
            server.close()

    return asyncio.run(run())


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"


def test_what_has_come_so_far_is_received():
    assert exchanged(HEAD + b"abc", lambda exchange: exchange.received(len(HEAD) + 3)) == b"abc"


@pytest.mark.parametrize("count", [10**12, None])
def test_what_was_not_sent_is_not_waited_for(monkeypatch, count):
    monkeypatch.setattr(wire, "_ARRIVES_S", 0.1)
    with pytest.raises(TimeoutError):
        exchanged(HEAD + b"abc", lambda exchange: exchange.received(count))


def test_an_answer_has_a_longest_body(monkeypatch):
    monkeypatch.setattr(wire, "_LONGEST_BODY", 8)
    with pytest.raises(BadAnswer, match="longer than 8 bytes"):
        exchanged(HEAD + b"123456789", Exchange.finish)
