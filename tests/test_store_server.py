"""Servers: proven to be ours, told from hung and broken ones, and gone without a trace."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from pytest_lendbench.bench.server import DESK_NOW, AppServer
from pytest_lendbench.bench.store import Store
from pytest_lendbench.rules.errors import CandidateFault, InstrumentError

if TYPE_CHECKING:
    from scheduler_bench import Bench

    from pytest_lendbench.bench.toolchain import Toolchain

pytest_plugins = ["scheduler_bench"]

STATE = "pytest_lendbench.bench.store.state"
END_S = 60

OWNER = """
import sys, time
from pathlib import Path
from pytest_lendbench.bench.server import DESK_NOW, AppServer
from pytest_lendbench.bench.desk import Desk
from pytest_lendbench.bench.store import Store
store = Store()
server = AppServer.boot(Path(sys.argv[1]), Path(sys.argv[2]), store)
opening = Desk(server, store).opening(sys.argv[3])
print(server.process.pid, server.url, flush=True)
sys.stdin.read()
"""


def accepts(url: str) -> bool:
    host, _, port = url.removeprefix("http://").partition(":")
    with contextlib.suppress(ConnectionRefusedError), socket.create_connection((host, int(port)), timeout=END_S):
        return True
    return False


def test_a_server_runs_with_an_environment_from_scratch(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THE_GRADER", "1")
    names = set(bench.desk.get("/wild").text.replace('"', "").rstrip("]").split(","))
    assert {"PATH", "TZ", "DESK_NOW", "DESK_SESSION_SECRET", "NODE_ENV"} <= names
    assert not {name for name in names if "LENDBENCH_STORE" in name or name in {"OF_THE_GRADER", "HOME"}}


def test_the_desks_clock_is_set_while_the_server_runs(own: Bench) -> None:
    days = []
    for instant in (DESK_NOW, "2031-11-05T03:29:59.999Z", "2031-11-05T03:30:00.000Z", "2040-02-29T12:00:00.000Z"):
        own.server.set_clock(instant)
        days.append(own.desk.get("/today").json())
    assert days == ["2031-11-04", "2031-11-04", "2031-11-05", "2040-02-29"]
    own.server.stop()
    with pytest.raises((CandidateFault, InstrumentError)):
        own.server.set_clock(DESK_NOW)


@pytest.mark.parametrize("how", ["", "hold", "spin"])
def test_nothing_is_left_after_stop(own: Bench, how: str) -> None:
    process = own.server.process
    assert process is not None
    with own.store.hold("items.count"):
        opening = own.desk.opening("/wild?how=spin" if how == "spin" else "/pages/ab/nothing")
        if how == "hold":
            own.store.settle()
        own.server.stop()
    assert not process.is_running()
    assert not accepts(own.server.url)
    assert not own.server.is_alive
    own.server.stop()
    with pytest.raises(CandidateFault, match="It ended with status 137"):
        opening.finish()


@pytest.mark.parametrize("path", ["/pages/ab/nothing", "/wild?how=spin"])
def test_a_server_does_not_outlive_its_owner(scheduler_tree: Path, tools: Toolchain, path: str) -> None:
    command = [sys.executable, "-c", OWNER, str(scheduler_tree), str(tools.node), path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid, url = owner.stdout.readline().split()
        server = psutil.Process(int(pid))
        os.kill(owner.pid, signal.SIGKILL)
    server.wait(END_S)
    assert not accepts(url)


def test_a_server_that_ends_while_it_answers_is_the_candidates_fault(own: Bench) -> None:
    with pytest.raises(CandidateFault, match=r"(?s)closed before the answer's end.*ended with status 7.*Ready"):
        own.desk.get("/wild?how=exit")
    with pytest.raises(CandidateFault, match="took no connection"):
        own.desk.get("/wild")
    with pytest.raises(CandidateFault, match="The server ended while the check ran"):
        own.store.settle()
    assert not own.server.is_alive


def test_a_server_that_computes_for_ever_is_the_candidates_fault(own: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{STATE}.LOOK_S", 0.2)
    monkeypatch.setattr(f"{STATE}.HUNG_CPU_S", 1.0)
    with own.desk.opening("/wild?how=spin"), pytest.raises(CandidateFault, match="computed for"):
        own.store.settle()
    assert not own.server.is_alive


def test_a_server_that_never_comes_to_rest_is_told_by_what_it_still_does(
    own: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{STATE}.LOOK_S", 0.2)
    monkeypatch.setattr(f"{STATE}.BOUND_S", 3.0)
    own.desk.get("/wild?how=restless")
    with pytest.raises((CandidateFault, InstrumentError), match="timer of 3 ms"):
        own.store.settle()


def test_a_tree_whose_server_does_not_start_says_why(tmp_path: Path, scheduler_tree: Path, tools: Toolchain) -> None:
    (tmp_path / "node_modules").symlink_to((scheduler_tree / "node_modules").resolve())
    store = Store()
    with pytest.raises(CandidateFault, match=r"(?s)It ended with status 1\..*production build"):
        AppServer.boot(tmp_path, tools.node, store)
    store.close()


def test_a_node_that_does_not_run_is_no_fault_of_the_candidate(scheduler_tree: Path) -> None:
    store = Store()
    with pytest.raises(InstrumentError, match="had not come to any code of the candidate"):
        AppServer.boot(scheduler_tree, Path(sys.executable), store)
    store.close()


def test_one_store_may_serve_one_server_after_another(scheduler_tree: Path, tools: Toolchain) -> None:
    store = Store()
    urls = []
    for _ in range(2):
        with AppServer.boot(scheduler_tree, tools.node, store) as server:
            store.settle()
            urls.append(server.url)
    store.close()
    assert urls[0] != urls[1]
