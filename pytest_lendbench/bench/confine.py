"""What a program that is not trusted may write to, as the kernel itself enforces it (Linux's Landlock, for any user).

It holds for the program and all it starts, until they end, root included. They may still read what this user may read,
and change modes and times of files. Elsewhere than on such a Linux nothing is confined.
"""

import ctypes
import functools
import os
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_lendbench.rules.errors import InstrumentError

_CREATE_RULESET, _ADD_RULE = 444, 445
_ASK_VERSION = 1
_PATH_BENEATH = 1

_WRITE_FILE = 1 << 1
_CHANGE_FOLDERS = sum(1 << bit for bit in (4, 5, 7, 8, 12))  # remove, and make folders, files and symbolic links
_MAKE_SPECIAL = sum(1 << bit for bit in (6, 9, 10, 11))  # devices, sockets and pipes: who copies a tree trips over them
_REFER = 1 << 13  # move and link from one folder to another
_TRUNCATE = 1 << 14
_SCOPES = 0b11  # connect to abstract sockets, and send signals, among themselves only

_REFER_SINCE, TRUNCATE_SINCE, SCOPES_SINCE = 2, 3, 6


@functools.cache
def version() -> int:
    """The version of Landlock that this machine has; 0: nothing can be confined.

    The first version is left out: it forbids every move between folders, which a build needs. From version 3 on files
    elsewhere cannot be emptied, from version 6 on no signal reaches other programs.
    """
    if sys.platform != "linux":
        return 0
    found = _call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    return found if found >= _REFER_SINCE else 0


def ruleset(writable: Sequence[Path]) -> int | None:
    """A descriptor that `warden.py` confines a program with; `None` where that does not work. The caller closes it.

    Args:
        writable: Existing directories, the only ones in which it may write, and nothing but files, folders and links.

    Raises:
        InstrumentError: The kernel refuses.
    """
    if not version():
        return None
    in_files = _WRITE_FILE | (_TRUNCATE if version() >= TRUNCATE_SINCE else 0)
    everything = in_files | _CHANGE_FOLDERS | _REFER
    attributes = struct.pack("=QQQ", everything | _MAKE_SPECIAL, 0, _SCOPES)[: 24 if version() >= SCOPES_SINCE else 8]
    made = _call(_CREATE_RULESET, attributes, len(attributes), 0)
    if made < 0:
        raise _refused()
    try:
        for path in writable:
            _allow(made, path, everything)
        _allow(made, Path(os.devnull), in_files)
    except BaseException:
        os.close(made)
        raise
    return made


def _allow(made: int, path: Path, rights: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError as error:
        raise InstrumentError(f"{path} cannot be opened: {error.strerror}.", "Grade again.") from error
    try:
        if _call(_ADD_RULE, made, _PATH_BENEATH, struct.pack("=Qi", rights, beneath), 0) < 0:
            raise _refused()
    finally:
        os.close(beneath)


def _call(number: int, *arguments: bytes | int | None) -> int:
    return int(ctypes.CDLL(None, use_errno=True).syscall(number, *arguments))


def _refused() -> InstrumentError:
    why = os.strerror(ctypes.get_errno())
    return InstrumentError(f"This machine refuses to confine a program: {why}.", "Grade again.")
