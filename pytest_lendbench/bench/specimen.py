"""Whole trees made from the fixture: the reference, the untouched app, and the reference with one of its defects."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pytest_lendbench.bench.layout import fixture

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_THE_APP = shutil.ignore_patterns("node_modules", ".next", "*.tsbuildinfo")


@dataclass(frozen=True)
class Defect:
    """One seeded fault: `fixture/defects/ID/change.patch` on the reference, and what `defect.toml` says of it.

    Attributes:
        id: The folder's name.
        patch: The fault itself, a unified diff with paths relative to the app's root.
        arises: How such a fault arises in real work.
        caught_by: The scored checks that must fail.
        stopped_by: The step of the gate that it does not pass, instead.
        blind: Whether it was written from app, spec and reference alone, without sight of the checks.
    """

    id: str
    patch: Path
    arises: str
    caught_by: frozenset[str] = frozenset()
    stopped_by: str | None = None
    blind: bool = False

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Reads one defect's folder.

        Raises:
            OSError, ValueError, TypeError: It is not one.
        """
        told = tomllib.loads((folder / "defect.toml").read_text("utf-8"))
        told["caught_by"] = frozenset(told.get("caught_by", ()))
        return cls(folder.name, folder / "change.patch", **told)


def defects() -> list[Defect]:
    """All defects of the fixture, by id."""
    return [Defect.load(path.parent) for path in sorted((fixture() / "defects").glob("*/defect.toml"))]


@contextmanager
def specimen(overlay: str | None = None, defect: Defect | None = None) -> Iterator[Path]:
    """A temporary tree to grade, removed at the end.

    Args:
        overlay: A folder of the fixture that is laid over the app, such as `reference`; without one it is the app as
            an agent gets it.
        defect: A fault to put into it.

    Raises:
        subprocess.CalledProcessError: The defect's patch does not fit the tree (any more).
    """
    with tempfile.TemporaryDirectory(prefix="lendbench-specimen-") as folder:
        tree = Path(folder) / "app"
        shutil.copytree(fixture() / "app", tree, ignore=_NOT_THE_APP)
        if overlay is not None:
            shutil.copytree(fixture() / overlay, tree, dirs_exist_ok=True)
        if defect is not None:
            patch = ["git", "apply", "--whitespace=nowarn", str(defect.patch)]
            subprocess.run(patch, cwd=tree, check=True)
        yield tree
