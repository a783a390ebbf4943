"""However a grading ends, it says so truly and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING

import psutil
import pytest
from gradings import PERFECT, Grader, one_check

if TYPE_CHECKING:
    from pathlib import Path

FIFO = "with open(os.environ['FAKE_FIFO'], 'w') as pipe:\n    pipe.write('running')\n"
HANG = FIFO + "import threading\nthreading.Event().wait()"


@pytest.fixture
def fifo(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reading it waits until a check runs."""
    path = grader.path / "fifo"
    os.mkfifo(path)
    monkeypatch.setenv("FAKE_FIFO", str(path))
    return path


def left_running(grader: Grader) -> list[psutil.Process]:
    """Processes whose environment names this test's directory for temporary files."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("TMPDIR", "").startswith(str(grader.temporary)):
                found.append(process)
        except psutil.Error:
            pass
    return found


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_dies_makes_the_grading_invalid(grader: Grader, signal_number: int) -> None:
    grader.suite(one_check(f"os.kill(os.getpid(), {int(signal_number)})"))
    graded = grader.run(f"--candidate={grader.candidate('leaks')}", "-n2")
    assert (graded.status, graded.json["status"], graded.json["total"]) == (10, "invalid", None)
    assert "died while it ran checks" in graded.json["invalid"]["what"]
    assert "It was running suite/checks/test_checks.py::test_it." in graded.json["invalid"]["what"]
    assert graded.verdicts == {"A.one": "not-run"}
    assert grader.left_behind() == []
    assert left_running(grader) == []


@pytest.mark.parametrize("way", [["-n0"], ["-n2"]], ids=" ".join)
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_scores_nothing_and_leaves_nothing(
    grader: Grader, fifo: Path, way: list[str], signal_number: int
) -> None:
    grader.suite(one_check(HANG))
    process = grader.start(f"--candidate={grader.candidate('leaks')}", *way)
    assert fifo.read_text() == "running"
    # A terminal sends Ctrl-C to all processes of the group; a supervisor ends the one it has started.
    if signal_number == signal.SIGINT:
        os.killpg(process.pid, signal_number)
    else:
        process.send_signal(signal_number)
    graded = grader.finish(process)
    assert graded.status == 2
    assert graded.json is None
    assert grader.left_behind() == []
    assert left_running(grader) == []


def test_a_check_that_leaves_a_process_behind_does_not_outlive_the_grading(grader: Grader) -> None:
    start = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
    grader.suite(one_check(start))
    graded = grader.run(f"--candidate={grader.candidate()}", "-n2")
    assert graded.status == 0
    assert left_running(grader) == []


def test_directories_without_permissions_are_removed(grader: Grader) -> None:
    body = "import tempfile\ninner = tempfile.mkdtemp() + '/inner/deep'\nos.makedirs(inner)\nos.chmod(inner + '/..', 0)"
    grader.suite(one_check(body))
    graded = grader.grade(grader.candidate(), "-n0")
    assert graded.status == 0
    assert grader.left_behind() == []


def test_pytest_exit_in_a_check_is_no_score(grader: Grader) -> None:
    grader.suite(one_check("pytest.exit('enough')"))
    graded = grader.run(f"--candidate={grader.candidate()}", "-n2")
    assert (graded.status, graded.json["status"]) == (10, "invalid")
    assert grader.left_behind() == []


def test_an_analysis_that_says_nothing_is_no_score(grader: Grader) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate(*PERFECT, "sources"), "-n0")
    assert (graded.status, graded.json["status"], graded.json["total"]) == (10, "invalid", None)
    assert "The sources could not be analysed" in graded.json["invalid"]["what"]
    assert grader.left_behind() == []


def test_nobody_has_to_read_the_output(grader: Grader) -> None:
    grader.suite()
    process = grader.start(f"--candidate={grader.candidate(*PERFECT)}", "-n0")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait() == 0
    assert json.loads(grader.json.read_text())["total"] == 100.0
