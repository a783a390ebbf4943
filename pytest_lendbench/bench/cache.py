"""Things that are made once on a machine and then shared, read-only, by every grading."""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs

from pytest_lendbench.rules.errors import InstrumentError


def once(name: str, make: Callable[[Path], None], say: Callable[[str], None]) -> Path:
    """The directory `name` in the user's cache; made by `make(empty directory)` if it is not there yet.

    It appears whole or not at all, also when several gradings want it at the same moment. `name` must say all that
    its content depends on.

    Raises:
        InstrumentError: The cache cannot be written, or what `make` raises.
    """
    try:
        root = platformdirs.user_cache_path("lendbench", ensure_exists=True)
        made = root / name
        if made.is_dir():
            return made
        with _lock(root / f"{name}.lock", say):
            if not made.is_dir():
                half = root / f"{name}.half"  # under the lock it can only be what a killed grading left behind
                _remove(half)
                half.mkdir()
                try:
                    make(half)
                    _make_read_only(half)
                    half.rename(made)
                except BaseException:
                    _remove(half)
                    raise
    except OSError as error:
        raise InstrumentError(
            f"The cache cannot be written: {error}.",
            "Free some space, or name another place with XDG_CACHE_HOME, then grade again.",
        ) from error
    return made


def existing(name: str) -> Path | None:
    """The directory `name` in the user's cache, if it is there; from now on it counts as just used."""
    made = platformdirs.user_cache_path("lendbench") / name
    if not made.is_dir():
        return None
    made.touch()
    return made


def forget(prefix: str, most: int) -> None:
    """Removes directories whose names begin with `prefix`, those not used for longest, until `most` are left."""
    root = platformdirs.user_cache_path("lendbench")
    found = sorted(path for path in root.glob(f"{prefix}*") if path.is_dir() and path.suffix != ".half")
    for old in sorted(found, key=lambda path: path.stat().st_mtime)[: max(0, len(found) - most)]:
        # Under a name of its own nobody begins to copy it any more, and another grading does not remove it too.
        gone = old.with_name(f"{old.name}.{os.getpid()}.half")
        with contextlib.suppress(FileNotFoundError):
            old.rename(gone)
        _remove(gone)


@contextlib.contextmanager
def _lock(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    with path.open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another grading is preparing what this one needs; waiting for it.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make_read_only(top: Path) -> None:
    for folder, folders, files in os.walk(top):
        for name in (*folders, *files):
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222)


def _remove(path: Path) -> None:
    if path.exists():
        path.chmod(0o755)
        for folder, folders, _ in os.walk(path):
            for name in folders:
                inner = Path(folder, name)
                if not inner.is_symlink():
                    inner.chmod(0o755)
        shutil.rmtree(path)
