"""One production server of a built tree, proven to be ours."""

import asyncio
import hashlib
import hmac
import os
import secrets
from importlib.resources import files
from pathlib import Path
from typing import Self

import httpx
import psutil

from pytest_lendbench.bench.process import Child, spawn
from pytest_lendbench.bench.request import Request
from pytest_lendbench.bench.store.state import State
from pytest_lendbench.bench.store.store import Store

DESK_NOW = "2031-11-05T02:10:00.000Z"
"""The present of every graded server, until its clock is set. At the desk (America/St_Johns) it is still 4 November."""

_LOG_BYTES = 400_000
_LAST_WORDS = 2_000
_ENDING_S = 2.0
_PRELOAD = Path(str(files("pytest_lendbench.bench") / "node" / "preload.mjs"))


class AppServer:
    """A server with a store. Made by `boot`; a context manager that stops it at the end.

    Attributes:
        url: `http://127.0.0.1:PORT`.
    """

    def __init__(self, store: Store, child: Child, secret: str) -> None:
        self._store = store
        self._child = child
        self._secret = secret
        self.url = ""

    @classmethod
    def boot(cls, tree: Path, node: Path, store: Store) -> Self:
        """Starts a built tree and returns once it has given its first answer.

        The server inherits its end of the store's connection and reports its port there: whoever else listens
        somewhere, the port is ours.

        Args:
            tree: A built tree, with `node_modules` in it.
            node: The program.
            store: Answers the server's operations. It serves one server at a time.

        Raises:
            CandidateFault: The server ended or hung while it started.
            InstrumentError: It did not come to the candidate's code, or it can't be told.
        """
        secret = secrets.token_hex(32)
        scratch = tree / ".next" / "tmp"
        scratch.mkdir(parents=True, exist_ok=True)
        next_cli = tree / "node_modules" / "next" / "dist" / "bin" / "next"
        command: list[str | Path] = [node, "--import", _PRELOAD, next_cli, "start", "-p", "0", "-H", "127.0.0.1"]
        with store.run(State.invite) as theirs:
            fd = theirs.fileno()
            env = {**_environment(secret, fd), "TMPDIR": str(scratch)}
            child = spawn(command, tree, env, _LOG_BYTES, pass_fds=[fd], writable=[tree / ".next"])
        server = cls(store, child, secret)
        try:
            store.run(server._begin)
        except BaseException:
            server.stop()
            raise
        return server

    async def _begin(self, state: State) -> None:
        port = await state.welcome(self)
        self.url = f"http://127.0.0.1:{port}"
        first = Request(httpx.Request("GET", f"{self.url}/_next/static/none"))
        tag = state.new_tag()
        answering = asyncio.create_task(first.exchange(state, tag))
        try:
            await state.answer(first.label, tag, answering)
        finally:
            answering.cancel()
        await state.settle()

    @property
    def process(self) -> psutil.Process | None:
        """The server's process; `None` after its end."""
        return self._child.process

    @property
    def is_alive(self) -> bool:
        """Whether it can still serve: it has neither ended nor been found hung."""
        return self._child.running and not self._store.overdue

    @property
    def logged(self) -> int:
        """How many bytes it has written so far."""
        return self._child.logged

    def log_tail(self, length: int = 200_000) -> str:
        """The last characters of what it has written."""
        return self._child.log()[-length:]

    def last_words(self) -> str:
        """How it ended and the end of its log, for people. Waits a moment for the end."""
        ended = self._child.wait(_ENDING_S)
        state = f"It ended with status {self._child.returncode}." if ended else "It still runs."
        return f"{state} The end of its log:\n{self.log_tail(_LAST_WORDS)}"

    def staff_cookie(self, staff_id: str) -> str:
        """The `Cookie` header of a signed-in staff member: `desk_session=…`."""
        signature = hmac.new(self._secret.encode(), staff_id.encode(), hashlib.sha256).hexdigest()
        return f"desk_session={staff_id}.{signature}"

    def settle(self) -> None:
        """As `Store.settle`."""
        self._store.settle()

    def open_requests(self, tag: str) -> int:
        """As `Store.open_requests`."""
        return self._store.open_requests(tag)

    def set_clock(self, now: str) -> None:
        """Sets the desk's clock to an instant, `2031-11-05T02:10:00.000Z`. Errors as for `Store.settle`."""
        self._store.run(lambda state: state.set_clock(now))

    def stop(self) -> None:
        """Releases what the store holds, closes the connection, and ends everything the server has started.

        May be done twice.

        Raises:
            InstrumentError: Something could not be ended.
        """
        try:
            self._store.disconnect()
        finally:
            self._child.kill_tree()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _environment(secret: str, fd: int) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "NODE_ENV": "production",
        "NEXT_TELEMETRY_DISABLED": "1",
        "TZ": "Asia/Tokyo",
        "DESK_NOW": DESK_NOW,
        "DESK_SESSION_SECRET": secret,
        "LENDBENCH_STORE_FD": str(fd),
        # Settling goes once through the thread pool. With one thread, it comes after all that was there before.
        "UV_THREADPOOL_SIZE": "1",
        "UV_USE_IO_URING": "0",
    }
