"""The clean tree: the pristine app, the candidate's writable files, and what the grader puts in their midst."""

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pytest_lendbench.bench import layout
from pytest_lendbench.bench.reading import UNWALKED
from pytest_lendbench.rules.errors import InstrumentError

_OURS = {"driver.ts": "src/db/driver.ts", "next.config.ts": "next.config.ts"}
_APP_CONFIG = "next.config.app.ts"
_NOT_OF_THE_APP = shutil.ignore_patterns(*(name.decode() for name in UNWALKED), "*.tsbuildinfo")


def assemble(into: Path, writable: Mapping[str, bytes], node_modules: Path) -> None:
    """Makes a tree that can be checked and built: `lay_out`, and the grader's own driver and configuration.

    Arguments and errors as for `lay_out`.
    """
    lay_out(into, writable, node_modules)
    with _explained():
        (into / "next.config.ts").rename(into / _APP_CONFIG)
        for ours, place in _OURS.items():
            shutil.copyfile(layout.NODE_SOURCES / ours, into / place)


def lay_out(into: Path, writable: Mapping[str, bytes], node_modules: Path) -> None:
    """Makes a tree of the pristine app with a candidate's writable files, for programs that read sources.

    Args:
        into: Where; must not exist. Its folder must lie outside every repository.
        writable: The content of the candidate's writable files. Where one is missing the app's stub stays.
        node_modules: The shared packages; the tree gets a link to them.

    Raises:
        InstrumentError: The disk is full or the like.
    """
    with _explained():
        copy_writable(layout.fixture() / "app", into, ignore=_NOT_OF_THE_APP)
        for path, content in writable.items():
            target = into / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        (into / "node_modules").symlink_to(node_modules, target_is_directory=True)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InstrumentError(
            f"The clean tree could not be made: {error}.", "Free some space, then grade again."
        ) from error


def run_copy(tree: Path, into: Path) -> Path:
    """A copy of a built tree for one server: all but the build cache, so that servers share nothing they write.

    Returns `into`.

    Raises:
        InstrumentError: The disk is full, or the build too deep.
    """
    try:
        shutil.copytree(tree, into, symlinks=True, ignore=_without_cache(tree))
    except (OSError, shutil.Error, RecursionError) as error:  # RecursionError: some hundred directories deep
        raise InstrumentError(
            f"The build could not be copied for a server: {error}.",
            "Free some space, or look into the build; then grade again.",
        ) from error
    return into


def copy_build(tree: Path, into: Path) -> None:
    """Copies the build of a tree, all but its cache. Links are copied as links, as a candidate's build may make some.

    Raises:
        OSError, shutil.Error: It cannot be copied.
    """
    shutil.copytree(tree / ".next", into, symlinks=True, ignore=_without_cache(tree))


def _without_cache(tree: Path) -> Callable[[str, list[str]], set[str]]:
    return lambda folder, _: {"cache"} if Path(folder) == tree / ".next" else set()


def copy_writable(source: Path, into: Path, ignore: Callable[[str, list[str]], set[str]] | None = None) -> None:
    """Copies a folder that may be read-only to a place where its owner can write to all of it."""
    shutil.copytree(source, into, ignore=ignore, dirs_exist_ok=True, symlinks=True)
    for path in (into, *into.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o200)


def tree_digest(tree: Path) -> str:
    """The SHA-256 of all files of an unbuilt tree, names and contents."""
    found = hashlib.sha256()
    for path in sorted(path for path in tree.rglob("*") if path.is_file() and "node_modules" not in path.parts):
        content = path.read_bytes()
        found.update(f"{path.relative_to(tree)}\0{len(content)}\0".encode() + content)
    return found.hexdigest()
