"""Sources laid out for the compiler and the analyzer, and changed for a test."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_lendbench.bench import analysis, assembly, layout, toolchain
from pytest_lendbench.bench.reading import read_tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ITEMS, APP = "src/items", "src/app"


@contextmanager
def laid_out(tree: Path, folder: Path) -> Iterator[analysis.Sources]:
    tools = toolchain.provide(print)
    task = layout.track("build")
    scratch = folder / "tmp"
    scratch.mkdir()
    kept = read_tree(tree, keep=task.writable).kept
    assembly.lay_out(folder / "tree", analysis.readable(kept), tools.node_modules)
    yield analysis.Sources(folder / "tree", task.writable, tools.node, tools.tools, scratch)


def edit(tree: Path, file: str, old: str, new: str) -> None:
    text = (tree / file).read_text("utf-8")
    assert old in text, f"{file} has no {old!r}"
    (tree / file).write_text(text.replace(old, new), "utf-8")


def append(tree: Path, file: str, text: str) -> None:
    with (tree / file).open("a", encoding="utf-8") as stream:
        stream.write(text)
