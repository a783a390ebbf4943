"""The GitHub action and the example workflows: their shell commands are run here as GitHub runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs
import pytest
import yaml

from pytest_lendbench.bench.specimen import specimen

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parent.parent
ACTION = ROOT / "action.yml"
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.yml"))

_EXPRESSION = re.compile(r"\$\{\{\s*([^}]+?)\s*\}\}")


def load(file: Path) -> dict[str, Any]:
    # YAML 1.1 takes the word `on` for true.
    told = yaml.safe_load(file.read_text("utf-8"))
    return {"on" if key is True else key: value for key, value in told.items()}


def steps_of(file: Path) -> list[dict[str, Any]]:
    told = load(file)
    if "runs" in told:
        return told["runs"]["steps"]
    return [step for job in told["jobs"].values() for step in job["steps"]]


def filled(text: str, values: Mapping[str, str]) -> str:
    """`text` with GitHub's expressions replaced; one that has no value is a mistake in the test or in the file."""
    return _EXPRESSION.sub(lambda found: values[found[1]], text)


class Runner:
    """A machine of GitHub's: its directories, its files for outputs, and the values of expressions."""

    def __init__(self, place: Path, action: Path = ACTION, **values: str) -> None:
        self.place = place
        self.temp = place / "temp"
        self.workspace = place / "workspace"
        self.summary = place / "summary.md"
        self.steps = {step["name"]: step for step in steps_of(action)}
        self.values = {"runner.temp": str(self.temp), **values}
        self.path = os.environ["PATH"]
        for folder in (self.temp, self.workspace):
            folder.mkdir()

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """Runs a step; its outputs become values."""
        step = self.steps[name]
        output = self.place / "output"
        output.write_text("")
        environment = {
            "PATH": self.path,
            "HOME": os.environ.get("HOME", "/"),
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            **{key: filled(value, self.values) for key, value in step.get("env", {}).items()},
        }
        where = filled(step.get("working-directory", str(self.workspace)), self.values)
        script = self.place / "step.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=where,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        told = dict(line.split("=", 1) for line in output.read_text().splitlines())
        self.values |= {f"steps.{step.get('id')}.outputs.{key}": value for key, value in told.items()}
        return done


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A runner on which the grader is installed already and its cache is this machine's."""
    inputs = {"inputs.path": "candidate", "inputs.track": "build", "inputs.min-score": "", "inputs.args": ""}
    made = Runner(tmp_path, **inputs)
    assert made.run("Place").returncode == 0
    programs = made.temp / "lendbench" / "venv" / "bin"
    programs.parent.mkdir()
    programs.symlink_to(Path(sys.executable).parent)
    made.values["steps.place.outputs.cache"] = str(platformdirs.user_cache_path())
    return made


def test_the_reference_is_graded_as_on_github(runner: Runner) -> None:
    runner.values["inputs.args"] = "-k G.methods -n0"
    with specimen("reference") as tree:
        shutil.copytree(tree, runner.workspace / "candidate")
    (runner.workspace / "candidate" / "pytest.ini").write_text("[pytest]\naddopts = --nonsense\n")
    graded = runner.run("Grade")
    assert runner.values["steps.grade.outputs.exit"] == "0", graded.stdout + graded.stderr
    assert runner.run("Summary").returncode == 0
    assert (runner.values["steps.summary.outputs.status"], runner.values["steps.summary.outputs.total"]) == (
        "partial",
        "",
    )
    assert runner.summary.read_text("utf-8").startswith("## Lending Desk Bench: 1 of 1 selected checks passed\n")
    reports = Path(runner.values["steps.place.outputs.reports"])
    assert {path.name for path in reports.iterdir()} >= {"score.json", "score.md", "junit.xml"}
    assert json.loads((reports / "score.json").read_text())["status"] == "partial"
    assert runner.run("Verdict").returncode == 0


def test_what_is_no_tree_is_said_on_the_page(runner: Runner) -> None:
    runner.values["inputs.path"] = "no where; touch ran $(touch ran)"
    runner.values["inputs.min-score"] = "80"
    assert runner.run("Grade").returncode == 0
    assert runner.values["steps.grade.outputs.exit"] == "4"
    assert runner.run("Summary").returncode == 0
    assert "Nothing was graded (exit status 4)" in runner.summary.read_text("utf-8")
    assert runner.run("Verdict").returncode == 4
    assert not list(runner.place.rglob("ran"))


def test_the_key_of_the_cache_names_the_packages(runner: Runner) -> None:
    assert re.fullmatch("[0-9a-f]{16}", runner.values["steps.place.outputs.key"])


@pytest.fixture
def commenter(tmp_path: Path) -> Runner:
    """The workflow that comments, with a `gh` that notes what it is asked for and answers with the number 7."""
    programs = tmp_path / "bin"
    programs.mkdir()
    gh = programs / "gh"
    gh.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$*" >> {tmp_path}/asked\n[ "$1" = api ] && cat {tmp_path}/number\nexit 0\n'
    )
    gh.chmod(0o755)
    (tmp_path / "number").write_text("7\n")
    made = Runner(
        tmp_path,
        ROOT / "docs" / "examples" / "comment.yml",
        **{
            "github.token": "secret",
            "github.repository": "owner/repository",
            "github.event.workflow_run.head_repository.owner.login": "somebody",
            "github.event.workflow_run.head_branch": "$(touch ran)",
        },
    )
    made.path = f"{programs}:{made.path}"
    (made.workspace / "reports").mkdir()
    return made


def test_the_summary_becomes_one_comment(commenter: Runner) -> None:
    (commenter.workspace / "reports" / "score.md").write_text("x" * 70_000)
    assert commenter.run("Comment").returncode == 0
    found, commented = (commenter.place / "asked").read_text().splitlines()
    assert "-f head=somebody:$(touch ran) " in found
    assert commented == "pr comment 7 --repo owner/repository --edit-last --create-if-none --body-file comment.md"
    assert len((commenter.workspace / "comment.md").read_text()) == 60_000
    assert not list(commenter.place.rglob("ran"))


def test_nothing_is_commented_without_a_summary_or_an_open_pull_request(commenter: Runner) -> None:
    summary = commenter.workspace / "reports" / "score.md"
    assert "There is no summary." in commenter.run("Comment").stdout
    summary.symlink_to("/proc/self/environ")
    assert "There is no summary." in commenter.run("Comment").stdout
    summary.unlink()
    summary.write_text("good")
    (commenter.place / "number").write_text("")
    assert "not open any more" in commenter.run("Comment").stdout
    assert "pr comment" not in (commenter.place / "asked").read_text()


@pytest.mark.parametrize("file", [ACTION, *EXAMPLES], ids=lambda file: file.name)
def test_other_actions_are_pinned_and_no_input_is_a_command(file: Path) -> None:
    steps = steps_of(file)
    assert steps
    for step in steps:
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
        else:
            assert "${{" not in step["run"]
            assert subprocess.run(["bash", "-n"], input=step["run"], text=True, check=False).returncode == 0
    pins = re.findall(r"uses: actions/[\w-]+@\S+(.*)", file.read_text("utf-8"))
    assert all(re.fullmatch(r" # v\d+\.\d+\.\d+", pin) for pin in pins)


def test_the_candidates_code_meets_no_token() -> None:
    grade, comment = (load(ROOT / "docs" / "examples" / f"{name}.yml") for name in ("grade", "comment"))
    assert (set(grade["on"]), grade["permissions"]) == ({"pull_request"}, {"contents": "read"})
    assert "secrets" not in ACTION.read_text("utf-8").replace("no secrets", "")
    checkout = grade["jobs"]["grade"]["steps"][0]
    assert checkout["with"]["persist-credentials"] is False
    assert set(comment["on"]) == {"workflow_run"}
    assert not any("checkout" in step.get("uses", "") for step in comment["jobs"]["comment"]["steps"])


def test_the_example_gives_only_inputs_that_there_are() -> None:
    given = load(ROOT / "docs" / "examples" / "grade.yml")["jobs"]["grade"]["steps"][1]["with"]
    assert given.keys() <= load(ACTION)["inputs"].keys()
    assert load(ACTION)["inputs"].keys() == {"path", "track", "min-score", "args"}
