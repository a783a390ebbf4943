"""Settling is a proof also where the timing is against it. The other end plays a server that is slow, or early."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from unittest.mock import AsyncMock

import httpx
import pytest

from pytest_lendbench.bench.desk import Opening
from pytest_lendbench.bench.layout import NODE_SOURCES
from pytest_lendbench.bench.process import Child, spawn
from pytest_lendbench.bench.request import Request
from pytest_lendbench.bench.store import Store, a_member, an_item
from pytest_lendbench.bench.store.state import BOUND_S, State
from pytest_lendbench.bench.wire import TAG_HEADER
from pytest_lendbench.rules.errors import CandidateFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psutil
    from scheduler_bench import Bench

    from pytest_lendbench.bench.toolchain import Toolchain

pytest_plugins = ["scheduler_bench"]

SLOW_HOST = Path(__file__).with_name("slow_host.mjs")


class Played:
    """The server's end of the connection, played by a test."""

    process = None

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def invited(cls, state: State) -> Played:
        played = cls(*await asyncio.open_unix_connection(sock=await state.invite()))
        played.say(listening=1)
        await state.welcome(played)
        return played

    def last_words(self) -> str:
        return "It was played."

    def say(self, **message: Any) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")

    def write(self, line: bytes) -> None:
        self._writer.write(line + b"\n")

    async def is_hung_up_on(self) -> bool:
        async with asyncio.timeout(BOUND_S):
            await self._reader.read()
        return self._reader.at_eof()

    async def hear(self) -> Any:
        async with asyncio.timeout(BOUND_S):
            return json.loads(await self._reader.readline())

    def leave(self) -> None:
        self._writer.close()


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store()
    yield store
    store.close()


def test_a_server_that_looked_before_an_answer_reached_it_must_look_again(store: Store) -> None:
    async def play(state: State) -> None:
        server = await Played.invited(state)
        settling = asyncio.create_task(state.settle())
        first = await server.hear()
        server.say(run=1, name="items.count", args={}, request=None)
        server.say(settled=first["settle"], written=[])
        assert await server.hear() == {"run": 1, "value": 0}
        second = await server.hear()
        assert not settling.done()
        server.say(settled=second["settle"], written=[])
        await settling
        server.leave()

    store.run(play)


def test_a_server_must_look_again_for_a_request_that_was_sent_meanwhile(store: Store) -> None:
    async def play(state: State) -> None:
        server = await Played.invited(state)
        settling = asyncio.create_task(state.settle())
        first = await server.hear()
        with state.sending("t-new"):
            server.say(settled=first["settle"], written=[])
            second = await server.hear()
            assert (first["tags"], second["tags"]) == ([], ["t-new"])
            server.say(settled=second["settle"], written=[])
            await settling
        server.leave()

    store.run(play)


def test_a_server_that_leaves_while_it_settles_is_gone(store: Store) -> None:
    async def play(state: State) -> None:
        server = await Played.invited(state)
        settling = asyncio.create_task(state.settle())
        await server.hear()
        server.leave()
        await settling

    with pytest.raises(CandidateFault, match="It was played"):
        store.run(play)


@pytest.mark.parametrize(
    "line",
    [
        b"1 passed in 0.01s",
        b"\xff\xfe",
        b"null",
        b"[" * 100_000,
        b'{"verdict": "passed"}',
        b'{"settled": 1, "written": []}',
        b'{"settled": QUESTION, "written": 7}',
        b'{"settled": QUESTION, "written": [["a"]]}',
        b'{"settled": QUESTION, "written": []}\n{"settled": QUESTION, "written": []}',
        b'{"run": 2, "name": "items.count", "args": {}, "request": null}',
        b'{"run": 1, "name": "items.count", "args": {}, "request": 7}',
        b'{"run": 1, "name": ["items.count"], "args": {}, "request": null}',
        b'{"start": 2, "tag": null, "method": "GET", "url": "/", "inner": false}',
        b'{"start": 1, "tag": ["t"], "method": "GET", "url": "/", "inner": false}',
        b'{"end": 1, "finished": true}',
        b'{"start": 1, "tag": null, "method": "GET", "url": "/", "inner": false}\n'
        + b'{"end": 1, "finished": true}\n' * 2,
    ],
    ids=range(16),
)
def test_what_the_preload_would_not_say_ends_the_server(store: Store, line: bytes) -> None:
    async def play(state: State) -> None:
        server = await Played.invited(state)
        settling = asyncio.create_task(state.settle())
        question = str((await server.hear())["settle"]).encode()
        server.write(line.replace(b"QUESTION", question))
        assert await server.is_hung_up_on()
        # It may have settled before the forgery came.
        await asyncio.gather(settling, return_exceptions=True)
        await state.settle()

    with pytest.raises(CandidateFault, match=r"wrote into the grader's own connection(?s:.*)It was played"):
        store.run(play)


def test_a_late_answer_to_an_abandoned_question_is_no_forgery(store: Store) -> None:
    async def play(state: State) -> None:
        server = await Played.invited(state)
        abandoned = asyncio.create_task(state.settle())
        first = await server.hear()
        abandoned.cancel()
        settling = asyncio.create_task(state.settle())
        second = await server.hear()
        server.say(settled=first["settle"], written=[])
        server.say(settled=second["settle"], written=[])
        await settling
        server.leave()

    store.run(play)


class Lost:
    """A request that the server has done with, and that nobody gets an answer to."""

    label = "GET /"

    async def exchange(self, *_: object) -> None:
        await asyncio.Event().wait()


def test_an_answer_that_went_astray_in_the_server_is_not_waited_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_lendbench.bench.store.state.LOOK_S", 0.01)
    monkeypatch.setattr("pytest_lendbench.bench.store.race.LOOK_S", 0.01)
    monkeypatch.setattr("pytest_lendbench.bench.patience._STARVED_RATIO", float("inf"))
    monkeypatch.setattr(State, "settle", AsyncMock(return_value={}))

    async def ask(state: State) -> None:
        await state.answer(Lost.label, "t1", asyncio.create_task(Lost().exchange(state, "t1")))

    with pytest.raises(CandidateFault, match="GET /: no answer, and nothing runs any more"):
        store.run(ask)
    with pytest.raises(CandidateFault, match="GET / and GET /: no answer, and nothing runs any more"):
        store.race(Lost(), Lost())


class SlowBody:
    """A request whose body is sent only once the server is known to wait for it, or the other one is answered."""

    label = "POST /race/naive"

    def __init__(self, bench: Bench, other: asyncio.Event) -> None:
        self._url = httpx.URL(bench.server.url)
        self._other = other

    async def exchange(self, state: State, tag: str) -> None:
        body = b'{"itemId": "it-1", "memberId": "mb-2"}'
        with state.sending(tag):
            reader, writer = await asyncio.open_connection(self._url.host, self._url.port)
            head = f"POST /race/naive HTTP/1.1\r\nHost: here\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
            writer.write(f"{head}{TAG_HEADER}: {tag}\r\n\r\n".encode())
            while not (self._other.is_set() or "body of POST /race/naive" in state.restless):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            writer.write(body)
            await reader.read()
            writer.close()


class Noticed:
    """Another request, and whether it has been answered."""

    def __init__(self, bench: Bench) -> None:
        self._request = bench.desk.prepare("POST", "/race/naive", json={"itemId": "it-1", "memberId": "mb-1"})
        self.label = self._request.label
        self.answered = asyncio.Event()

    async def exchange(self, state: State, tag: str) -> None:
        await self._request.exchange(state, tag)
        self.answered.set()


def test_a_race_begins_when_both_bodies_have_arrived(bench: Bench) -> None:
    bench.store.seed(items=[an_item()], members=[a_member(), a_member(id="mb-2")])
    quick = Noticed(bench)
    bench.store.race(quick, SlowBody(bench, quick.answered))
    assert len(bench.store.rows("loans")) == 2


class Hosted:
    """A plain Node server with the preload."""

    def __init__(self, child: Child) -> None:
        self.child = child

    @property
    def process(self) -> psutil.Process | None:
        return self.child.process

    def last_words(self) -> str:
        return self.child.log()


@contextmanager
def slow_host(store: Store, tools: Toolchain, folder: Path) -> Iterator[str]:
    """The address of a server that takes nothing from a connection to itself before the store has told a count."""
    with store.run(State.invite) as theirs:
        command: list[str | Path] = [tools.node, "--import", NODE_SOURCES / "preload.mjs", SLOW_HOST]
        fd = theirs.fileno()
        child = spawn(command, folder, {"LENDBENCH_STORE_FD": str(fd)}, pass_fds=[fd])
    with child:
        yield f"http://127.0.0.1:{store.run(lambda state: state.welcome(Hosted(child)))}"
        store.disconnect()


def test_a_request_on_its_way_from_the_server_to_itself_is_waited_for(
    store: Store, tools: Toolchain, tmp_path: Path
) -> None:
    async def restless(state: State) -> list[str]:
        return state.restless

    with slow_host(store, tools, tmp_path) as url, store.held("items.categories") as held:
        count = store.hold("items.count")
        with Opening(store, Request(httpx.Request("GET", f"{url}/outer"))) as opening:
            settling = Thread(target=store.settle)
            settling.start()
            while settling.is_alive() and "fetch from this server to itself" not in store.run(restless):
                settling.join(0.01)
            count.release()
            settling.join()
            assert held.waiting == {"items.categories"}
            held.release()
            assert opening.finish().text == "[]"
