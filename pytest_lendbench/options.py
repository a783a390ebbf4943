"""The command line of a grading."""

from __future__ import annotations

import math
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

DEFAULT_TRACK = "build"
_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst", ".7z")
DEFAULT_EVIDENCE = "lendbench-evidence"


@dataclass(frozen=True)
class Options:
    """What a grading was asked for, checked. Paths are absolute."""

    candidate: Path
    track: str
    score_json: Path | None
    score_html: Path | None
    score_markdown: Path | None
    min_score: float | None
    evidence: Path
    reuse: bool


def add(parser: pytest.Parser) -> None:
    """Declares the options."""
    group = parser.getgroup("lendbench", "grading a tree of the Lending Desk app")
    group.addoption("--candidate", metavar="PATH", help="The source tree to grade. Without it pytest runs as always.")
    group.addoption(
        "--track",
        metavar="NAME",
        default=DEFAULT_TRACK,
        help="The task that the tree is an answer to (default: build).",
    )
    group.addoption("--score-json", metavar="FILE", help="Write the result to FILE, as JSON.")
    group.addoption("--score-html", metavar="FILE", help="Write the result to FILE, as a page to read.")
    group.addoption("--score-markdown", metavar="FILE", help="Write a summary to FILE, as Markdown for GitHub.")
    group.addoption("--min-score", metavar="N", type=float, help="Exit with 0 exactly if the total is at least N.")
    group.addoption(
        "--reuse",
        action="store_true",
        help="Take the build of an earlier grading with --reuse of the same files, for authors of checks.",
    )
    group.addoption(
        "--evidence",
        metavar="DIR",
        help=f"Where to write what failed checks have seen (default: ./{DEFAULT_EVIDENCE}).",
    )


def grading(config: pytest.Config) -> bool:
    """Whether a tree is to be graded. With `--collect-only` and the like, nothing is."""
    option = config.option
    listing = option.collectonly or option.showfixtures or option.show_fixtures_per_test
    return option.candidate is not None and not listing


def quiet(config: pytest.Config) -> bool:
    """Whether pytest's own words about each test are to be left out: not with `-v`."""
    return bool(config.getoption("verbose", 0) <= 0)


def read(config: pytest.Config) -> Options:
    """Checks the options of a grading before anything is done.

    Raises:
        pytest.UsageError: One of them cannot be right.
    """
    option, here = config.option, config.invocation_params.dir
    candidate = directory(option.candidate, here)
    if option.min_score is not None and not (math.isfinite(option.min_score) and 0 <= option.min_score <= 100):
        raise pytest.UsageError(f"--min-score is a number from 0 to 100, not {option.min_score:g}.")
    if option.min_score is not None and selects(config):
        raise pytest.UsageError(
            "--min-score needs a total, and a selection of checks has none. Leave one of them away."
        )
    score_json = _result_file("--score-json", option.score_json, here)
    score_html = _result_file("--score-html", option.score_html, here)
    score_markdown = _result_file("--score-markdown", option.score_markdown, here)
    files = [file for file in (score_json, score_html, score_markdown) if file is not None]
    if twice := next((file for file in files if files.count(file) > 1), None):
        raise pytest.UsageError(f"Two reports are to be written to {twice}. Name two files.")
    if option.evidence:
        evidence = here / option.evidence
    else:
        # Where pytest is started inside the candidate, nothing of ours may land in it.
        outside = candidate.parent if here.is_relative_to(candidate) else here
        evidence = outside / DEFAULT_EVIDENCE
    if evidence.exists() and not evidence.is_dir():
        raise pytest.UsageError(f"--evidence: {evidence} is not a directory. Name another one.")
    return Options(
        candidate=candidate,
        track=option.track,
        score_json=score_json,
        score_html=score_html,
        score_markdown=score_markdown,
        min_score=option.min_score,
        evidence=evidence,
        reuse=option.reuse,
    )


def directory(candidate: str, here: Path) -> Path:
    """The candidate's absolute path.

    Raises:
        pytest.UsageError: There is no such directory.
    """
    path = Path(os.path.abspath(here / candidate))  # noqa: PTH100 (resolve() would follow a link that reading refuses)
    if candidate and path.is_file():
        todo = "Unpack it, and name" if path.name.endswith(_ARCHIVES) else "Name"
        raise pytest.UsageError(f"--candidate: {candidate!r} is a file. {todo} the directory of the app.")
    if not candidate or not path.is_dir():
        raise pytest.UsageError(f"--candidate: there is no directory {candidate!r}. Name the tree to grade.")
    return path


def selects(config: pytest.Config) -> bool:
    """Whether only some of the checks were asked for, or a stop before the last one."""
    option = config.option
    asked = (option.keyword, option.markexpr, option.deselect, option.ignore, option.ignore_glob, option.maxfail)
    return any(asked) or bool(config.stash.get(NAMED, False))


NAMED = pytest.StashKey[bool]()
"""Whether checks were named as positional arguments."""


def _result_file(name: str, given: str | None, here: Path) -> Path | None:
    """The file of a report, if one was asked for. What an earlier grading has left there is removed."""
    if not given:
        return None
    _writable(name, here / given)
    return here / given


def _writable(name: str, file: Path) -> None:
    """Tries, and removes the result of an earlier grading, so that nobody takes it for this one's."""
    try:
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name[:40]}."):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"{name}: {file} cannot be written: {error.strerror}. Name another file.") from error
