"""Builds that are kept for later gradings of the same files, for authors of checks (`--reuse`)."""

import shutil
from collections.abc import Callable
from pathlib import Path

from pytest_lendbench.bench import assembly, cache
from pytest_lendbench.rules.errors import InstrumentError

_MOST = 8
"""How many builds are kept, about 20 MB each."""
_NAME = "built-"


class Kept:
    """The place of one tree's build. Named by all files of the clean tree, so no other tree can find it."""

    def __init__(self, tree: Path, toolchain_key: str) -> None:
        self._tree = tree
        self._name = f"{_NAME}{toolchain_key}-{assembly.tree_digest(tree)[:32]}"

    def restore(self) -> bool:
        """Puts the kept build into the tree; `False` if there is none.

        Raises:
            InstrumentError: The cache cannot be read, or the disk is full.
        """
        try:
            there = cache.existing(self._name)
            if there is None:
                return False
            assembly.copy_writable(there / "build", self._tree / ".next")
        except (OSError, shutil.Error) as error:
            raise InstrumentError(f"The kept build cannot be copied: {error}.", "Grade without --reuse.") from error
        return True

    def keep(self, say: Callable[[str], None]) -> None:
        """Keeps the tree's build, and lets go of those that were not used for longest. Where that fails it says so."""

        def make(into: Path) -> None:
            assembly.copy_build(self._tree, into / "build")

        try:
            cache.once(self._name, make, say)
            cache.forget(_NAME, _MOST)
        except (InstrumentError, OSError) as error:
            say(f"The build could not be kept: {error}")
