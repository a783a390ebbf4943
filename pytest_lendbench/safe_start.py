"""Keeps pytest's own start out of the candidate's hands.

pytest looks for its configuration before any plugin is loaded, and takes the PATH of `--candidate PATH` for a test
argument: it may have found an ini file of the candidate's. Then we start over with our own.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_lendbench import distributed, options
from pytest_lendbench.suite import GRADING_INI, Suite

if TYPE_CHECKING:
    from pathlib import Path


def enter(early_config: pytest.Config, args: list[str], suite: Suite) -> None:
    """Completes the command line of a grading, or starts over. Called before any conftest is loaded.

    Raises:
        pytest.UsageError: The candidate would configure the grader, or the arguments cannot be right.
    """
    known = early_config.known_args_namespace
    here = early_config.invocation_params.dir
    candidate = options.directory(known.candidate, here).resolve()
    if suite.root.resolve().is_relative_to(candidate):
        raise pytest.UsageError(f"--candidate: {candidate} holds the grader itself. Name the tree to grade.")
    named = [here / argument.partition("::")[0] for argument in known.file_or_dir]
    if inside := [str(path) for path in named if path.resolve().is_relative_to(candidate)]:
        raise pytest.UsageError(f"{inside[0]} is a part of the candidate. Name checks of the grader, or none.")
    if _steered(early_config, candidate, suite):
        _start_over(early_config, candidate, suite)

    early_config.stash[options.NAMED] = bool(named)
    if not named:
        # Said here, not later: pytest would load the conftest of the current directory, which may be the candidate.
        known.file_or_dir = [str(path) for path in suite.paths]
        args[:0] = known.file_or_dir
    known.confcutdir = str(suite.root)
    args[:0] = [f"--confcutdir={suite.root}", *_defaults(early_config)]
    # It writes .pytest_cache into the root directory.
    for plugin in ("cacheprovider", "stepwise", "pytest_stepwise"):
        early_config.pluginmanager.set_blocked(plugin)


def steering_ini(config: pytest.Config, candidate: Path) -> Path | None:
    """The ini file of the candidate's that configures this run, if one does (somebody has named it with `-c`)."""
    ini = config.inipath
    return ini if ini is not None and ini.resolve().is_relative_to(candidate.resolve()) else None


def _steered(config: pytest.Config, candidate: Path, suite: Suite) -> bool:
    """Whether somebody else than the grader or its user configures pytest."""
    ini, named = config.inipath, config.known_args_namespace.inifilename
    if ini is not None and named and (config.invocation_params.dir / named).resolve() == ini.resolve():
        return False
    if ini is not None and ini != GRADING_INI and ini.parent != suite.root:
        return True
    return config.rootpath.resolve().is_relative_to(candidate)


def _start_over(config: pytest.Config, candidate: Path, suite: Suite) -> None:
    ours = ["-c", str(GRADING_INI), f"--rootdir={suite.root}"]
    given = list(config.invocation_params.args)
    if given != sys.argv[1:]:
        raise pytest.UsageError(
            f"pytest would be configured by {config.inipath or config.rootpath}, which is no part of the grader. "
            f"Add {' '.join(ours)}."
        )
    rest = _without_candidate([str(argument) for argument in given])
    sys.stdout.flush()
    sys.stderr.flush()
    # -P: the current directory may be the candidate and must not be searched for modules.
    os.execv(  # noqa: S606
        sys.executable, [sys.executable, "-P", "-m", "pytest", *ours, f"--candidate={candidate}", *rest]
    )


def _without_candidate(args: list[str]) -> list[str]:
    """The arguments but for `--candidate`, in either form."""
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--candidate":
            next(words, None)
        elif not word.startswith("--candidate="):
            rest.append(word)
    return rest


def _defaults(config: pytest.Config) -> list[str]:
    """What a grading uses unless the user says otherwise. What it finds stands in its own section, not in pytest's."""
    terminal = config.pluginmanager.hasplugin("terminal")
    quiet = terminal and config.known_args_namespace.verbose <= 0
    return [*(["--verbosity=-2", "--no-summary"] if quiet else []), *distributed.default_arguments(config)]
