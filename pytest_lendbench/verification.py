"""Grading a tree again, to see whether a result holds: `lendbench verify RESULT --candidate PATH`."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_lendbench.bench import layout, toolchain
from pytest_lendbench.bench.reading import read_tree
from pytest_lendbench.faces import result_file
from pytest_lendbench.rules.comparison import Comparison, Graded, compare, refuse_other_ruler
from pytest_lendbench.rules.errors import CandidateRefused, InstrumentError, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_lendbench.faces.json_report import Report

_SHOWN_FILES = 10


def verify(
    result: str,
    candidate: Path,
    grade: Callable[[Sequence[str]], int],
    say: Callable[[str], None],
    ruler: Mapping[str, str] | None = None,
) -> Comparison:
    """Grades the tree that a result is about once more, and compares the two.

    Args:
        result: The file of the result.
        candidate: The tree.
        grade: Grades: takes pytest's arguments, returns its exit status.
        say: Takes sentences about progress.
        ruler: That of the new grading, where it is known before: another one needs no grading to be refused.

    Raises:
        UsageProblem: It is no result, or it is about another tree, or it was graded by another ruler.
        KeyboardInterrupt: The grading was interrupted.
        InstrumentError: The new grading is invalid, or left no result.
    """
    report, before = result_file.read(result)
    if before.status == "invalid":
        raise UsageProblem(
            f"{result} is an invalid grading, so there is nothing to verify: {before.trouble} Grade the tree again."
        )
    if ruler is not None:
        refuse_other_ruler(before, replace(before, name="this grader", ruler={**before.ruler, **ruler}))
    if changed := _changed_files(report, candidate):
        raise UsageProblem(_other_tree(result, candidate, changed))
    with tempfile.TemporaryDirectory(prefix="lendbench-verify-") as folder:
        again = Path(folder, "score.json")
        words = [f"--candidate={candidate}", f"--track={report['track']}", f"--score-json={again}"]
        words += [f"--evidence={folder}/evidence", *_selection(before)]
        say(f"Grading {candidate} again (track {report['track']}) …")
        status = grade(words)
        if not again.exists():
            raise _without_result(status)
        new, after = result_file.read(again)
    if new["invalid"] is not None:
        raise InstrumentError(f"The new grading is invalid: {new['invalid']['what']}", new["invalid"]["todo"])
    return compare(before, replace(after, name="the new grading"))


def _without_result(status: int) -> BaseException:
    """Why pytest has graded nothing, by its exit status."""
    if status == pytest.ExitCode.INTERRUPTED:
        return KeyboardInterrupt()
    if status == pytest.ExitCode.USAGE_ERROR:
        return UsageProblem("Nothing was graded: pytest's words above say what it was asked for in vain.")
    return InstrumentError(f"The new grading left no result; its exit status was {status}.", "Grade the tree itself.")


def _changed_files(report: Report, candidate: Path) -> list[str]:
    """The writable files that are not those that were graded, sorted."""
    known = report["provenance"].get("candidate")
    if not isinstance(known, dict):
        raise UsageProblem("The result does not say which files were graded. Grade the tree again.")
    if not candidate.is_dir():
        raise UsageProblem(f"There is no directory {candidate}. Name the tree that was graded.")
    try:
        kept = read_tree(candidate, keep=layout.track(report["track"]).writable).kept
    except CandidateRefused as error:
        raise UsageProblem(f"{candidate} is not the tree that was graded. {error}") from error
    found = {name: toolchain.digest(content) for name, content in kept.items()}
    return sorted(name for name in known.keys() | found.keys() if known.get(name) != found.get(name))


def _other_tree(result: str, candidate: Path, changed: list[str]) -> str:
    files = "\n".join(f"  {name}" for name in changed[:_SHOWN_FILES])
    more = f"\n  and {len(changed) - _SHOWN_FILES} more" if len(changed) > _SHOWN_FILES else ""
    return (
        f"{candidate} is not the tree that {result} is about. These of its files are not the ones that were graded:\n"
        f"{files}{more}\nName the tree that was graded, or grade this one with `lendbench grade`."
    )


def _selection(graded: Graded) -> list[str]:
    """The arguments by which pytest runs the same checks."""
    return ["-k", " or ".join(sorted(graded.ran))] if graded.status == "partial" and graded.ran else []
