"""The unit bridge: a candidate's functions and components, called from Python through one long-lived Node process."""

import json
import shutil
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pytest_lendbench.bench import layout, toolchain
from pytest_lendbench.bench.patience import blame
from pytest_lendbench.bench.process import Child, spawn
from pytest_lendbench.rules.errors import CandidateFault, InstrumentError

CALL_S = 30.0
"""How long one call may take, the bundling of its module included."""

MAX_REPLY = 16_000_000
"""How long an answer may be, in bytes of JSON."""


class Bridge:
    """Calls what a candidate's modules export. The process starts with the first call, and again after a fault.

    Dates (`datetime`, aware) go out as `Date` objects and come back as `datetime` in UTC. `undefined` comes back as
    `None`, or not at all where it is the value of a property.
    """

    def __init__(self, tree: Path, node: Path, tools: Path, run_dir: Path) -> None:
        self._tree = tree
        self._node = node
        self._tools = tools
        self._out = Path(tempfile.mkdtemp(prefix="unit-", dir=run_dir))
        (self._out / "node_modules").symlink_to(tree / "node_modules")
        (self._out / "tmp").mkdir()
        self._child: Child | None = None
        self._socket: socket.socket | None = None

    def call(self, file: str, name: str, args: Sequence[Any], env: Mapping[str, str] | None = None) -> Any:
        """Calls a function, waits for its promise if it returns one, and returns its result as plain data.

        Args:
            file: The module, relative to the app's root.
            name: The export.
            args: Plain data and datetimes.
            env: Environment variables for this call only.

        Raises:
            CandidateFault: It threw, hung, ended the process, or returned what is no plain data.
            InstrumentError: The bridge cannot work, or the machine is starved.
        """
        return self._ask("call", file, name, list(args), env)

    def render(self, file: str, name: str, props: Mapping[str, Any], env: Mapping[str, str] | None = None) -> str:
        """Renders a component to static HTML. Arguments and errors as for `call`."""
        return str(self._ask("render", file, name, [dict(props)], env))

    def close(self) -> None:
        """Ends the process and removes its files. May be done twice."""
        self._stop()
        shutil.rmtree(self._out, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, kind: str, file: str, name: str, args: list[Any], env: Mapping[str, str] | None) -> Any:
        request = {"kind": kind, "file": file, "name": name, "args": args, "env": dict(env or {})}
        what = f"`{name}` of {file}"
        try:
            answer = self._exchange(json.dumps(request, default=_encode).encode() + b"\n", what)
        except BaseException:
            self._stop()
            raise
        if "broken" in answer:
            raise InstrumentError(f"The unit bridge failed: {answer['broken']}", "Report this with the tree.")
        if "thrown" in answer:
            raise CandidateFault(f"{what} failed. {answer['thrown']}")
        return answer["value"]

    def _exchange(self, request: bytes, what: str) -> dict[str, Any]:
        child, connection = self._started()
        deadline = time.monotonic() + CALL_S
        reply = bytearray()
        try:
            connection.settimeout(CALL_S)
            connection.sendall(request)
            while not reply.endswith(b"\n"):
                connection.settimeout(_left(deadline))
                data = connection.recv(65536)
                if not data:
                    raise ConnectionResetError
                reply += data
                if len(reply) > MAX_REPLY:
                    raise CandidateFault(f"{what} returned more than {MAX_REPLY:,} bytes.")
        except TimeoutError:
            raise blame(f"{what} did not answer within {CALL_S:g} s.", child.process) from None
        except ConnectionError:
            raise self._ended(child, what) from None
        try:
            answer = json.loads(reply, object_hook=_decode)
        except (ValueError, TypeError, RecursionError):
            answer = None
        if not (isinstance(answer, dict) and answer.keys() & {"value", "thrown", "broken"}):
            raise CandidateFault(f"{what} wrote into the bridge's own socket: {bytes(reply[:200])!r}.")
        return answer

    def _ended(self, child: Child, what: str) -> CandidateFault | InstrumentError:
        by_itself = child.wait(CALL_S)
        child.kill_tree()
        said = child.log().strip()[-1000:]
        if by_itself and child.returncode == 137 and child.stopped_because is None:
            return InstrumentError(
                f"The unit bridge was killed from outside. {said}", "Grade again with more memory free."
            )
        reason = f"too many {child.stopped_because}" if child.stopped_because else f"status {child.returncode}"
        return CandidateFault(f"{what} ended the process it ran in ({reason}). {said}".strip())

    def _started(self) -> tuple[Child, socket.socket]:
        if self._child is not None and not self._child.running:
            self._stop()
        if self._child is None or self._socket is None:
            if not (self._tools / "esbuild" / "package.json").is_file():
                raise InstrumentError(
                    f"esbuild is missing in {self._tools}.", "Remove that directory's parent, then grade again."
                )
            ours, its = socket.socketpair()
            with its:
                argv: list[str | Path] = [
                    self._node,
                    layout.NODE_SOURCES / "bridge.mjs",
                    self._tree,
                    self._tools,
                    self._out,
                    str(its.fileno()),
                ]
                env = {**toolchain.environment(self._node, self._out / "tmp"), "NODE_ENV": "production"}
                try:
                    self._child = spawn(argv, self._out, env, pass_fds=[its.fileno()], writable=[self._out])
                except BaseException:
                    ours.close()
                    raise
                self._socket = ours
        return self._child, self._socket

    def _stop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._child is not None:
            self._child.kill_tree()
            self._child = None


def _left(deadline: float) -> float:
    """Seconds until then.

    Raises:
        TimeoutError: None are left.
    """
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _encode(value: object) -> dict[str, str]:
    if isinstance(value, datetime):
        return {"$date": value.astimezone(UTC).isoformat()}
    raise TypeError(f"{value!r} is neither plain data nor a datetime")


def _decode(found: dict[str, Any]) -> Any:
    return datetime.fromisoformat(found["$date"]) if found.keys() == {"$date"} else found
