"""Reading a tree that is not trusted: by directory handles, following nothing, executing nothing."""

import errno
import hashlib
import os
import stat
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_lendbench.rules.errors import CandidateRefused

UNWALKED = (b".git", b".next", b"node_modules")
"""Names that are not walked when they stand at the top of the tree."""


@dataclass(frozen=True)
class Limits:
    """How large a tree may be: bytes (as the file system states them), entries, and folders inside each other."""

    size: int = 64_000_000
    count: int = 20_000
    depth: int = 32


@dataclass(frozen=True)
class Tree:
    """A tree as it was read.

    Attributes:
        files: For each file its path, and the SHA-256 of its content with line endings as LF.
        kept: The exact content of those files that were to be kept.
        unwalked: The top-level names that were left unread.
    """

    files: Mapping[bytes, str]
    kept: Mapping[str, bytes]
    unwalked: tuple[str, ...]


def printable(path: bytes) -> str:
    """A path for people and logs: what is no plain text (invalid UTF-8, control and direction marks) is escaped."""
    text = path.decode("utf-8", "backslashreplace")
    return "".join(char if _plain(char) else char.encode("unicode_escape").decode() for char in text)


def read_tree(root: Path, keep: Collection[str] = (), limits: Limits | None = None) -> Tree:
    """Reads the whole tree under `root`; `root` itself may be a symbolic link.

    Args:
        root: A directory.
        keep: Paths whose content is wanted.
        limits: What is refused as too large.

    Raises:
        CandidateRefused: The tree holds symbolic links, special files or a `node_modules` inside, cannot be read
            whole, is over a limit, or changed meanwhile.
    """
    reader = _Reader(limits or Limits(), frozenset(os.fsencode(path) for path in keep))
    try:
        top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise CandidateRefused(f"{root} cannot be read: {error.strerror}.", "Make it readable.") from error
    try:
        before = reader.walk(top)
        reader.refuse_flaws()
        tree = reader.read(top, before)
        reader.refuse_flaws()
        again = _Reader(reader.limits, frozenset())
        if again.walk(top) != before or again.flaws:
            raise CandidateRefused(
                f"{root} changed while it was being read.", "Stop what still writes to it, then grade again."
            )
        return tree
    finally:
        os.close(top)


_Signature = tuple[int, int, int, int, int]


@dataclass
class _Reader:
    limits: Limits
    keep: frozenset[bytes]
    flaws: list[tuple[str, bytes]] = field(default_factory=list)
    size: int = 0
    count: int = 0

    def refuse_flaws(self) -> None:
        if not self.flaws:
            return
        lines = [f"  {printable(path)}: {why}" for why, path in sorted(self.flaws, key=lambda flaw: flaw[1])]
        raise CandidateRefused(
            "This tree may not be graded:\n" + "\n".join(lines) + "\n", "Replace or remove what is listed."
        )

    def walk(self, top: int) -> dict[bytes, _Signature]:
        """What every file and folder looks like from outside. Collects flaws; raises for limits."""
        return dict(self._walk(top, b"", 1))

    def _walk(self, folder: int, prefix: bytes, depth: int) -> Iterator[tuple[bytes, _Signature]]:
        try:
            names = sorted(os.fsencode(name) for name in os.listdir(folder))
        except OSError as error:
            self.flaws.append((f"cannot be read ({_words(error)})", prefix or b"."))
            return
        for name in names:
            path = prefix + name
            if not prefix and name in UNWALKED:
                continue
            self._count(path)
            try:
                seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
            except OSError as error:
                self.flaws.append((f"cannot be read ({_words(error)})", path))
                continue
            if stat.S_ISDIR(seen.st_mode):
                yield path, (seen.st_ino, seen.st_mode, 0, seen.st_mtime_ns, seen.st_ctime_ns)
                yield from self._enter(folder, name, path, depth)
            elif stat.S_ISREG(seen.st_mode):
                self._weigh(path, seen.st_size)
                yield path, _signature(seen)
            else:
                self.flaws.append((_kind(seen.st_mode), path))

    def _enter(self, folder: int, name: bytes, path: bytes, depth: int) -> Iterator[tuple[bytes, _Signature]]:
        if name == b"node_modules":
            self.flaws.append(("a node_modules folder inside the tree would stand in for the real packages", path))
            return
        if depth >= self.limits.depth:
            raise CandidateRefused(
                f"{printable(path)} lies deeper than {self.limits.depth} folders.", "Grade the app's own tree only."
            )
        try:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        except OSError as error:
            self.flaws.append((f"cannot be read ({_words(error)})", path))
            return
        try:
            yield from self._walk(inner, path + b"/", depth + 1)
        finally:
            os.close(inner)

    def read(self, top: int, entries: Mapping[bytes, _Signature]) -> Tree:
        files: dict[bytes, str] = {}
        kept: dict[str, bytes] = {}
        for path, signature in entries.items():
            if stat.S_ISDIR(signature[1]):
                continue
            try:
                content = _content(top, path, signature)
            except OSError as error:
                self.flaws.append((f"cannot be read ({_words(error)})", path))
                continue
            files[path] = hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()
            if path in self.keep:
                kept[os.fsdecode(path)] = content
        unwalked = tuple(sorted(os.fsdecode(name) for name in UNWALKED if _exists(name, top)))
        return Tree(files, kept, unwalked)

    def _count(self, path: bytes) -> None:
        self.count += 1
        if self.count > self.limits.count:
            raise CandidateRefused(
                f"The tree has more than {self.limits.count:,} entries (the last one seen: {printable(path)}).",
                "Grade the app's own tree only.",
            )

    def _weigh(self, path: bytes, size: int) -> None:
        self.size += size
        if self.size > self.limits.size:
            raise CandidateRefused(
                f"The tree is larger than {self.limits.size:,} bytes; {printable(path)} has {size:,}.",
                "Remove what does not belong to the app.",
            )


def _content(top: int, path: bytes, expected: _Signature) -> bytes:
    """The content of a file, each folder on the way opened by handle, provided it is still the file that was seen."""
    *folders, name = path.split(b"/")
    handle = os.dup(top)
    try:
        for folder in folders:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
            os.close(handle)
            handle = inner
        # O_NONBLOCK: a fifo that took the file's place meanwhile must not hold us.
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=handle)
    finally:
        os.close(handle)
    with os.fdopen(opened, "rb") as file:
        if _signature(os.fstat(opened)) != expected:
            raise OSError(errno.ESTALE, "it changed meanwhile")
        content = file.read(expected[2] + 1)
        if len(content) != expected[2]:
            raise OSError(errno.ESTALE, "it changed meanwhile")
        return content


def _signature(seen: os.stat_result) -> _Signature:
    return seen.st_ino, seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


def _words(error: OSError) -> str:
    return error.strerror or str(error)


def _exists(name: bytes, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _kind(mode: int) -> str:
    kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device or other special file")


def _plain(char: str) -> bool:
    return char == " " or unicodedata.category(char)[0] not in "CZ"
