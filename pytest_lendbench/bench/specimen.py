"""Whole trees made from the fixture: the reference, the untouched app, and either of them with overlays and patches."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_lendbench.bench.layout import suite_root

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def specimen(*overlays: str) -> Iterator[Path]:
    """A temporary tree to grade: the app with folders of the fixture laid over it, such as `specimen("reference")`.

    Without an overlay it is the app as an agent gets it. The tree is removed at the end.
    """
    fixture = suite_root() / "fixture"
    with tempfile.TemporaryDirectory(prefix="lendbench-specimen-") as folder:
        tree = Path(folder) / "app"
        shutil.copytree(
            fixture / "app", tree, ignore=shutil.ignore_patterns("node_modules", ".next", "*.tsbuildinfo"), symlinks=True
        )
        for overlay in overlays:
            shutil.copytree(fixture / overlay, tree, dirs_exist_ok=True)
        yield tree
