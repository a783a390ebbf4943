"""Where a check is written. It is read, not imported: no pytest, and nothing of it is run."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


_DEF = re.compile(r"(?:async )?def ")


@dataclass(frozen=True)
class CheckSource:
    """The test function of a check.

    Attributes:
        file: The module.
        line: Of its first decorator, from 1.
        text: The whole function with its decorators.
        docstring: What it says of itself; empty if it says nothing.
    """

    file: Path
    line: int
    text: str
    docstring: str

    @property
    def body(self) -> tuple[str, ...]:
        """Its lines without the decorators."""
        lines = self.text.splitlines()
        return tuple(lines[next(index for index, line in enumerate(lines) if _DEF.match(line)) :])


def sources(folders: Iterable[Path]) -> dict[str, CheckSource]:
    """By id, the functions that are marked as checks in the modules `test_*.py` of these folders.

    Raises:
        OSError, SyntaxError, UnicodeDecodeError: A module cannot be read.
    """
    files = [file for folder in folders for file in sorted(folder.rglob("test_*.py"))]
    return {name: source for file in files for name, source in in_module(file, file.read_text("utf-8"))}


def in_module(file: Path, module: str) -> Iterator[tuple[str, CheckSource]]:
    """The ids and functions of the checks in a module's text. Errors as for `sources`."""
    for node in ast.walk(ast.parse(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min(one.lineno for one in (node, *node.decorator_list))
            text = textwrap.dedent("\n".join(module.splitlines()[first - 1 : node.end_lineno]))
            docstring = inspect.cleandoc(ast.get_docstring(node) or "")
            for name in _ids(node):
                yield name, CheckSource(file, first, text, docstring)


def _ids(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The ids that stand in its decorators, `@pytest.mark.check(id="…")`."""
    calls = [one for one in function.decorator_list if isinstance(one, ast.Call)]
    words = [word for call in calls for word in call.keywords if word.arg == "id"]
    values = [word.value.value for word in words if isinstance(word.value, ast.Constant)]
    return {value for value in values if isinstance(value, str)}
