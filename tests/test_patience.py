"""Whose fault it is that a bound expired."""

import math
import os
import sys

import psutil
import pytest

from pytest_lendbench.bench import patience
from pytest_lendbench.bench.process import spawn
from pytest_lendbench.rules.errors import CandidateFault, InstrumentError


def test_on_a_machine_with_time_to_spare_it_is_the_candidates(monkeypatch):
    monkeypatch.setattr(patience, "_STARVED_RATIO", math.inf)
    verdict = patience.blame("It took more than 9 s.", psutil.Process())
    assert isinstance(verdict, CandidateFault)
    assert str(verdict).startswith("It took more than 9 s. It used ")


def test_a_process_that_is_gone_is_said_to_be_gone(monkeypatch):
    monkeypatch.setattr(patience, "_STARVED_RATIO", math.inf)
    assert "No process of it was left." in str(patience.blame("It took more than 9 s.", None))


def test_on_a_starved_machine_it_is_nobodys(monkeypatch, tmp_path):
    monkeypatch.setattr(patience, "_STARVED_RATIO", 0)
    with spawn(["/bin/sleep", "600"], tmp_path, {}) as child:
        verdict = patience.blame("It took more than 9 s.", psutil.Process(child.pid))
    assert isinstance(verdict, InstrumentError)
    assert "starved" in verdict.what
    assert verdict.todo


def test_where_the_kernel_ends_processes_for_want_of_memory_nobody_answers(monkeypatch):
    assert isinstance(patience.ended("It ended."), CandidateFault)
    before = patience._memory_kills()
    monkeypatch.setattr(patience, "_memory_kills", lambda: before + 1)
    for verdict in (patience.ended("It ended."), patience.blame("It took more than 9 s.", None)):
        assert isinstance(verdict, InstrumentError)
        assert "too little memory" in verdict.what


def test_who_starves_the_machine_answers_for_it(monkeypatch, tmp_path):
    monkeypatch.setattr(patience, "_STARVED_RATIO", 0)
    monkeypatch.setattr(patience, "_SPIN_S", 1.0)
    # On a machine that others use too, even busy processes get only a part of it.
    monkeypatch.setattr(patience, "_OWN_DOING_SHARE", 0.05)
    busy = "import os\nfor _ in range(3): os.fork()\nprint('.', flush=True)\nwhile True: pass"
    with spawn([sys.executable, "-c", busy], tmp_path, {"PATH": os.defpath}) as child:
        while child.log().count(".") < 8:
            child.wait(0.01)
        verdict = patience.blame("It took more than 9 s.", psutil.Process(child.pid))
    assert isinstance(verdict, CandidateFault)


@pytest.mark.parametrize("ratio", [0, math.inf])
def test_a_verdict_needs_no_living_process(monkeypatch, tmp_path, ratio):
    monkeypatch.setattr(patience, "_STARVED_RATIO", ratio)
    with spawn(["/bin/true"], tmp_path, {}) as child:
        process = psutil.Process(child.pid)
        child.wait(60)
    assert isinstance(patience.blame("It took more than 9 s.", process), CandidateFault | InstrumentError)
