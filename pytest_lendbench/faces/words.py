"""Lines of text for a terminal, for the commands that run without pytest."""

from __future__ import annotations

import shutil
import textwrap

from pytest_lendbench.text import plain

WIDEST = 100


def width() -> int:
    """The columns to fill: those of the terminal, at most `WIDEST`."""
    return min(shutil.get_terminal_size().columns, WIDEST) - 1


def prose(text: str, indent: int, columns: int) -> list[str]:
    """`text`, made safe, wrapped and indented; its paragraphs stay apart."""
    margin = " " * indent
    lines: list[str] = []
    for paragraph in plain(text).splitlines():
        lines += textwrap.wrap(paragraph, columns, initial_indent=margin, subsequent_indent=margin) or [""]
    return lines


def first_line(text: str, most: int = 1_000) -> str:
    """The first line of a message that says anything, cut off after `most` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "(no reason given)")
    return line if len(line) <= most else f"{line[: most - 1]}…"


def count(number: int, thing: str) -> str:
    """`1 check`, `2 checks`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
