"""Starting programs that are not trusted, and ending them with all that they have started.

Every program runs under a warden of its own (`warden.py`), in a PID namespace where the machine allows one. When this
process ends, however it ends, the warden ends the program. Where the machine can, it is told where it may write.
"""

import contextlib
import functools
import os
import secrets
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import psutil

from pytest_lendbench.bench import confine
from pytest_lendbench.bench.patience import blame
from pytest_lendbench.rules.errors import InstrumentError

MAX_PROCESSES = 200
"""How many processes a program may have at a time. A production build has about ten."""

StopReason = Literal["time", "output", "processes"]

_WARDEN_S = 5.0
_END_S = 60.0
_WARDEN = Path(__file__).with_name("warden.py")


@dataclass(frozen=True)
class Finished:
    """How a bounded program ended.

    Attributes:
        returncode: Its exit status, 128 + n after signal n; `None` if it was stopped.
        output: What it wrote to standard output and standard error, the middle left out if there was too much.
        stopped_because: The bound that stopped it; `None` if it ended by itself.
        fault: With `stopped_because`, the sentence that says which bound it broke, with evidence.
        duration: Seconds.
    """

    returncode: int | None
    output: str
    stopped_because: StopReason | None
    fault: str | None
    duration: float


class _Log:
    """The first and the last bytes of what a program writes, up to `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = b""
        self._tail = b""
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self._half :] if len(data) > room else self._tail

    def text(self) -> str:
        missing = self.total - len(self._head) - len(self._tail)
        gap = f"\n[… {missing} bytes left out …]\n".encode() if missing else b""
        return (self._head + gap + self._tail).decode(errors="replace")


class Child:
    """A running program. Use as a context manager, or call `kill_tree` at the end; both may be done twice."""

    def __init__(
        self, popen: subprocess.Popen[bytes], pipes: tuple[int, int, int], log: _Log, output_limit: int | None
    ) -> None:
        self._popen = popen
        self._lifeline: int | None = pipes[0]
        self._log = log
        self._output_limit = output_limit
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._too_much = False
        self._reason = b""
        self._program: psutil.Process | None = None
        self._drain = threading.Thread(target=self._read, args=pipes[1:], name=f"log of {popen.pid}", daemon=True)
        self._drain.start()

    @property
    def pid(self) -> int:
        """The process that holds all the others: ours to wait for. The program itself is `process`."""
        return self._popen.pid

    @property
    def process(self) -> psutil.Process | None:
        """The program itself; `None` before it has begun and after it has ended."""
        # Looked for once: for the children of one process psutil reads about all there are.
        if self._program is None:
            with contextlib.suppress(psutil.Error, IndexError):
                warden = psutil.Process(self._popen.pid)
                if _namespace():
                    warden = warden.children()[0]
                self._program = warden.children()[0]
        return self._program if self._program is not None and self._program.is_running() else None

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    @property
    def returncode(self) -> int | None:
        """The program's exit status, 128 + n after signal n; `None` while it runs."""
        return None if self.running else self._popen.returncode

    @property
    def stopped_because(self) -> StopReason | None:
        """The bound that the program broke, if it did: `output` or `processes`."""
        if self._too_much:
            return "output"
        return "processes" if self._reason == b"processes" else None

    def log(self) -> str:
        """What the program has written so far, standard output and standard error in one, the middle left out."""
        return self._log.text()

    @property
    def logged(self) -> int:
        """How many bytes it has written so far."""
        return self._log.total

    def wait(self, timeout: float | None) -> bool:
        """Waits until the program has ended; `False` if it has not after `timeout` seconds."""
        return self._ended.wait(timeout)

    def kill_tree(self) -> None:
        """Ends the program and everything it has started, and returns when all is gone.

        Raises:
            InstrumentError: Something could not be ended within a minute.
        """
        self._let_go()
        if not self._ended.wait(_WARDEN_S) and _namespace():  # the kernel needs no turn of the warden's
            with contextlib.suppress(psutil.Error):
                for warden in psutil.Process(self._popen.pid).children():
                    warden.kill()
        if not self._ended.wait(_END_S):
            raise InstrumentError(
                f"Process {self._popen.pid} of this grading could not be ended.", "End it by hand, then grade again."
            )
        self._drain.join()

    def _let_go(self) -> None:
        with self._lock:
            if self._lifeline is not None:
                os.close(self._lifeline)
                self._lifeline = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill_tree()

    def _read(self, output: int, status: int) -> None:
        """Runs in a thread of its own: collects the output, then the end."""
        with open(output, "rb", buffering=0) as stream:
            while data := stream.read(65536):
                self._log.add(data)
                if self._output_limit is not None and self._log.total > self._output_limit and not self._too_much:
                    self._too_much = True
                    self._let_go()
        self._popen.wait()
        with open(status, "rb") as stream:
            self._reason = stream.read()
        self._ended.set()


def spawn(
    argv: Sequence[str | Path],
    cwd: Path,
    env: Mapping[str, str],
    log_limit: int = 1_000_000,
    *,
    output_limit: int | None = None,
    pass_fds: Sequence[int] = (),
    writable: Sequence[Path] | None = None,
) -> Child:
    """Starts a program with exactly this environment, in a session of its own, with nothing to read.

    Args:
        argv: The program, by absolute path, and its arguments.
        cwd: Where it runs.
        env: Its whole environment.
        log_limit: How many bytes of its output to keep.
        output_limit: How many bytes it may write before it is ended; `None`: any number.
        pass_fds: Descriptors that it inherits, by the same numbers.
        writable: The directories in which it may write, where the machine can confine it; `None`: it is trusted.

    Raises:
        InstrumentError: The program does not exist or the machine cannot start it.
    """
    program = Path(argv[0])
    if not (program.is_absolute() and os.access(program, os.X_OK)):
        raise InstrumentError(f"{program} is not a program that can be started.", "Check that it is installed.")
    rules = None if writable is None else confine.ruleset(writable)
    life_in, life_out = os.pipe()
    out_in, out_out = os.pipe()
    status_in, status_out = os.pipe()
    kept = ",".join(str(fd) for fd in pass_fds)
    confined = "" if rules is None else str(rules)
    warden = [sys.executable, "-I", str(_WARDEN), str(status_out), str(MAX_PROCESSES), kept, confined, *map(str, argv)]
    try:
        popen = subprocess.Popen(
            [*_namespace(), *warden],
            cwd=cwd,
            env={**env, "LENDBENCH_MARK": secrets.token_hex(8)},
            stdin=life_in,
            stdout=out_out,
            stderr=out_out,
            pass_fds=[status_out, *pass_fds, *([] if rules is None else [rules])],
            start_new_session=True,
        )
    except OSError as error:
        for fd in (life_out, out_in, status_in):
            os.close(fd)
        raise InstrumentError(
            f"{program.name} could not be started: {error}.", "Free memory or processes, then grade again."
        ) from error
    finally:
        for fd in (life_in, out_out, status_out, *([] if rules is None else [rules])):
            os.close(fd)
    return Child(popen, (life_out, out_in, status_in), _Log(log_limit), output_limit)


def run_bounded(
    argv: Sequence[str | Path],
    cwd: Path,
    env: Mapping[str, str],
    wall_s: float,
    output_limit: int,
    *,
    log_limit: int = 1_000_000,
    writable: Sequence[Path] | None = None,
) -> Finished:
    """Runs a program to its end, at most `wall_s` seconds and `output_limit` bytes of output; nothing of it stays.

    The other arguments are those of `spawn`.

    Raises:
        InstrumentError: As `spawn`; or the time was up on a machine that has none to spare.
    """
    started = time.monotonic()
    with spawn(argv, cwd, env, log_limit, output_limit=output_limit, writable=writable) as child:
        fault = None
        reason: StopReason | None = None
        if not child.wait(wall_s) and child.stopped_because is None:
            verdict = blame(f"It ran for more than {wall_s:g} s.", child.process)
            if isinstance(verdict, InstrumentError):
                raise verdict
            reason, fault = "time", str(verdict)
            child.kill_tree()
    if child.stopped_because == "output":
        reason, fault = "output", f"It wrote more than {output_limit:,} bytes of output."
    elif child.stopped_because == "processes":
        reason, fault = "processes", f"It had more than {MAX_PROCESSES} processes at a time."
    return Finished(None if reason else child.returncode, child.log(), reason, fault, time.monotonic() - started)


@functools.cache
def _namespace() -> tuple[str, ...]:
    """The words before a command that put it into a PID namespace of its own; none where that does not work."""
    unshare = shutil.which("unshare", path="/usr/bin:/bin:/usr/sbin:/sbin") if sys.platform == "linux" else None
    if unshare is None:
        return ()
    words = [unshare, "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        words += ["--user", "--map-current-user"]
    probe = [*words, sys.executable, "-I", "-c", "import os; raise SystemExit(os.getpid() != 1)"]
    try:
        works = subprocess.run(probe, capture_output=True, check=False, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        works = False
    return tuple(words) if works else ()
