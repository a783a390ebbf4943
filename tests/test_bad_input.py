"""What a user gets who asks for what can't be done: one sentence that says what to do, and the right exit status."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_lendbench.bench import layout

USAGE, INVALID = 4, 10
IGNORED = shutil.ignore_patterns("node_modules", ".next", "*.tsbuildinfo")


@pytest.fixture
def app(tmp_path):
    return Path(shutil.copytree(layout.fixture() / "app", tmp_path / "app", ignore=IGNORED))


@pytest.fixture
def grade(tmp_path):
    """Runs `lendbench grade` with words, in an empty directory. Returns exit status and output."""
    here = tmp_path / "here"
    here.mkdir()

    def run(*words, env=None, before=()):
        command = [*before, sys.executable, "-m", "pytest_lendbench.cli", "grade", *map(str, words)]
        done = subprocess.run(
            command, cwd=here, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
        )
        output = " ".join((done.stdout + done.stderr).split())
        assert "Traceback" not in output
        return done.returncode, output

    yield run
    assert list(here.iterdir()) == []


def write(path, text="x"):
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda place: place / "nowhere", "there is no directory"),
        (lambda place: write(place / "notes.txt"), "is a file. Name the directory of the app"),
        (lambda place: write(place / "tree.tar.gz"), "is a file. Unpack it, and name the directory of the app"),
        (lambda place: (place / "empty").mkdir() or place / "empty", "is empty: of the app's"),
        (lambda place: write(place / "package.json", "{}").parent, "is not a tree of the Lending Desk app"),
    ],
)
def test_a_candidate_that_is_none(make, says, grade, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    status, output = grade(make(place))
    assert says in output
    assert status == USAGE


def test_a_tree_of_another_revision(grade, app):
    file = app / "package.json"
    write(file, file.read_text("utf-8").replace('"version": "1.', '"version": "7.'))
    status, output = grade(app)
    assert "The tree is of the app's revision r7" in output
    assert status == INVALID


def test_a_directory_that_cannot_be_read(grade, app):
    # Root reads everything, unless it may not.
    humble = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    (app / "src").chmod(0)
    try:
        status, output = grade(app, before=humble)
    finally:
        (app / "src").chmod(0o755)
    assert "cannot be read" in output
    assert status == INVALID


@pytest.mark.parametrize("option", ["--score-json", "--score-html", "--score-markdown"])
def test_a_report_that_cannot_be_written(option, grade, app, tmp_path):
    status, output = grade(app, f"{option}={tmp_path}/nowhere/file")
    assert f"{option}: " in output
    assert "cannot be written: No such file or directory. Name another file." in output
    assert status == USAGE


@pytest.mark.parametrize(
    ("node", "says"),
    [
        (None, "There is no `node` on the PATH. Install Node 20 from 20.19 on, or Node 22.13 or newer."),
        ("echo 18.20.0; echo /usr/bin/node", "is Node 18.20.0, on which not all packages run. Install Node 20 from"),
        ("exit 3", "does not run"),
    ],
)
def test_a_machine_without_a_usable_node(node, says, grade, app, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    if node is not None:
        write(folder / "node", f"#!/bin/sh\n{node}\n").chmod(0o755)
    status, output = grade(app, env={"PATH": str(folder)})
    assert says in output
    assert status == INVALID


def test_a_machine_without_a_browser(grade, app, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in ("node", "npm"):
        (folder / program).symlink_to(shutil.which(program))
    status, output = grade(app, env={"PATH": str(folder), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)})
    assert "There is no browser." in output
    assert "playwright install" in output
    assert status == INVALID


def test_a_full_disk(grade, app, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    small = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o size=256k none {disk} && exec "$@"', "sh"]
    if subprocess.run([*small, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    status, output = grade(app, env={"TMPDIR": str(disk)}, before=small)
    assert "Free some space" in output
    assert status == INVALID
