"""Everything temporary of one grading, in one directory, and the end of it all."""

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil

from pytest_lendbench.rules.errors import InstrumentError

_MARK = "LENDBENCH_WORKSPACE"
_END_S = 30.0


class Workspace:
    """A fresh directory that this process and all it starts use for temporary files, until `close`.

    While it is open, SIGTERM and SIGHUP end this process the way Ctrl-C does: with all clean-up.

    Raises:
        InstrumentError: The machine has no room for one.
    """

    def __init__(self) -> None:
        try:
            self.path = Path(tempfile.mkdtemp(prefix="lendbench-")).resolve()
        except OSError as error:
            raise InstrumentError(
                f"No temporary directory can be made: {error}.", "Free some space, or set TMPDIR."
            ) from error
        ours = {
            "TMPDIR": str(self.path),
            _MARK: str(self.path),
            # A Python that we start must not search its current directory for modules: it may be the candidate.
            "PYTHONSAFEPATH": "1",
        }
        self._environment = {name: os.environ.get(name) for name in ours}
        os.environ.update(ours)
        self._tempdir, tempfile.tempdir = tempfile.tempdir, str(self.path)
        self._handlers = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGHUP):
                self._handlers[number] = signal.signal(number, signal.default_int_handler)
        self._open = True
        atexit.register(self.close)

    def close(self) -> None:
        """Ends every process that was started under this workspace, and removes the directory. May be done twice.

        Raises:
            InstrumentError: Something could not be ended or removed.
        """
        if not self._open:
            return
        with _undisturbed():
            self._open = False
            self._restore()
            processes = list(self._processes())
            for process in processes:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            left = [f"process {process.pid}" for process in psutil.wait_procs(processes, timeout=_END_S)[1]]
            _remove(self.path)
            if self.path.exists():
                left.append(str(self.path))
        if left:
            raise InstrumentError(f"The grading has left behind {' and '.join(left)}.", "Remove it by hand.")

    def _processes(self) -> Iterator[psutil.Process]:
        """The ones that carry our mark or stand in our directory."""
        own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                marked = process.environ().get(_MARK) == str(self.path)
                if process.pid not in own and (marked or Path(process.cwd()).is_relative_to(self.path)):
                    yield process

    def _restore(self) -> None:
        atexit.unregister(self.close)
        tempfile.tempdir = self._tempdir
        for name, value in self._environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        for number, handler in self._handlers.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """A signal waits until the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _remove(path: Path) -> None:
    """Removes a tree in which a candidate may have taken permissions away, however deep it is. Follows no link."""
    with contextlib.suppress(RecursionError):  # Some hundred directories down.
        shutil.rmtree(path, ignore_errors=True)
    for words in (("chmod", "-R", "u+rwX"), ("rm", "-rf")) if path.exists() else ():
        subprocess.run([*words, "--", path], env={"PATH": os.defpath}, check=False, capture_output=True)
