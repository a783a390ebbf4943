"""Reading a result that `--score-json` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pytest_lendbench.faces.json_report import SCHEMA
from pytest_lendbench.rules.comparison import Graded
from pytest_lendbench.rules.errors import UsageProblem

if TYPE_CHECKING:
    from pytest_lendbench.faces.json_report import Report

LARGEST = 64_000_000
"""Bytes."""

_TODO = "Name a file that `lendbench grade PATH --score-json=FILE` wrote."


def read(file: str | Path) -> tuple[Report, Graded]:
    """The report in a file, and the same in the form in which it can be compared.

    Raises:
        UsageProblem: It is no such file, or one of another version of the grader.
    """
    found = _parse(file, _content(file))
    schema = found.get("schema") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(schema, int):
        raise UsageProblem(f"{file} is JSON, but not the result of a grading. {_TODO}")
    if schema != SCHEMA:
        raise UsageProblem(
            f"{file} was written by another version of the grader: its schema is {schema}, and this version reads "
            f"{SCHEMA}. Grade that tree again."
        )
    try:
        graded = Graded.from_report(found, str(file))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UsageProblem(f"{file} is not a whole result of a grading ({error!r:.200}). {_TODO}") from error
    report: Report = found  # type: ignore[assignment] # Graded has looked at it
    return report, graded


def _content(file: str | Path) -> bytes:
    try:
        with Path(file).open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageProblem(f"{file} cannot be read: {reason}. {_TODO}") from error
    if len(content) > LARGEST:
        raise UsageProblem(f"{file} is larger than {LARGEST:,} bytes, which no result is. {_TODO}")
    return content


def _parse(file: str | Path, content: bytes) -> object:
    try:
        return json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UsageProblem(f"{file} is not JSON: {reason}. {_TODO}") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
