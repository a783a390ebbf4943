"""Programs that are not trusted: their bounds hold, and nothing of them is left."""

import os
import secrets
import signal
import subprocess
import sys
import time

import psutil
import pytest

from pytest_lendbench.bench import confine, process
from pytest_lendbench.bench.process import run_bounded, spawn
from pytest_lendbench.rules.errors import CandidateFault, InstrumentError

BASH = "/bin/bash"
ENV = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
LONG_S = 120.0


@pytest.fixture(params=["namespace", "plain"])
def ward(request, monkeypatch):
    """Both ways of holding a program, where the machine has both."""
    if request.param == "plain":
        monkeypatch.setattr(process, "_namespace", lambda: ())
    elif not process._namespace():
        pytest.skip("no PID namespace on this machine")
    return request.param


@pytest.fixture
def token():
    """A number that a test's processes carry as an argument of `sleep`."""
    return str(100_000_000 + secrets.randbelow(100_000_000))


def living(token):
    """The processes that have this token among their arguments and still run."""
    running = [one for one in psutil.process_iter(["cmdline", "status"]) if one.info["status"] != psutil.STATUS_ZOMBIE]
    return [one for one in running if token in (one.info["cmdline"] or [])]


def until(condition):
    deadline = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < deadline, "waited two minutes in vain"
        time.sleep(0.01)


def run(script, tmp_path, wall_s=LONG_S, output_limit=1_000_000, **more):
    return run_bounded([BASH, "-c", script], tmp_path, ENV, wall_s, output_limit, **more)


@pytest.mark.usefixtures("ward")
class TestRunning:
    def test_output_and_status_are_reported(self, tmp_path):
        done = run("echo out; echo err >&2; pwd; exit 3", tmp_path)
        assert (done.returncode, done.stopped_because, done.fault) == (3, None, None)
        assert done.output == f"out\nerr\n{tmp_path}\n"

    def test_death_by_a_signal_is_a_status(self, tmp_path):
        assert run("kill -TERM $$", tmp_path).returncode == 128 + signal.SIGTERM

    def test_the_environment_is_exactly_the_given_one(self, tmp_path, monkeypatch):
        monkeypatch.setenv("SECRET_OF_THE_GRADER", "x")
        names = {line.split("=")[0] for line in run("exec env", tmp_path).output.splitlines()}
        assert names <= {*ENV, "LENDBENCH_MARK", "PWD", "SHLVL", "_", "OLDPWD"}

    def test_there_is_nothing_to_read(self, tmp_path):
        assert run("cat; echo end", tmp_path).output == "end\n"

    def test_a_flood_is_stopped_and_its_middle_left_out(self, tmp_path):
        done = run("echo first; yes", tmp_path, output_limit=100_000_000, log_limit=1000)
        assert (done.returncode, done.stopped_because) == (None, "output")
        assert "100,000,000 bytes" in done.fault
        assert done.output.startswith("first\n")
        assert "bytes left out" in done.output
        assert len(done.output) < 1100

    def test_a_hang_is_stopped_with_evidence(self, tmp_path, token, monkeypatch):
        monkeypatch.setattr(process, "blame", lambda what, one: CandidateFault(f"{what} {one.name()}"))
        done = run(f"exec sleep {token}", tmp_path, wall_s=1)
        assert (done.returncode, done.stopped_because) == (None, "time")
        assert done.fault == "It ran for more than 1 s. sleep"
        assert not living(token)

    def test_a_hang_on_a_starved_machine_is_no_verdict(self, tmp_path, token, monkeypatch):
        monkeypatch.setattr(process, "blame", lambda what, _: InstrumentError(what, "Wait."))
        with pytest.raises(InstrumentError, match="more than 1 s"):
            run(f"exec sleep {token}", tmp_path, wall_s=1)
        assert not living(token)

    @pytest.mark.parametrize("start", ["sleep", "setsid sleep"])
    def test_processes_without_end_are_stopped(self, tmp_path, token, start):
        done = run(f"while true; do {start} {token} & done", tmp_path)
        assert (done.returncode, done.stopped_because) == (None, "processes")
        assert str(process.MAX_PROCESSES) in done.fault
        assert not living(token)

    def test_a_doubling_of_processes_is_stopped(self, tmp_path, token):
        done = run(f"f() {{ [ $1 -gt 11 ] || {{ f $(($1+1)) & f $(($1+1)) & }}; sleep {token}; }}; f 0", tmp_path)
        assert done.stopped_because == "processes"
        assert not living(token)

    def test_many_that_come_and_go_are_none_too_many(self, tmp_path):
        done = run("for n in {1..300}; do (true & exec true); done; sleep 0.2; echo done", tmp_path)
        assert (done.returncode, done.output) == (0, "done\n")

    def test_a_daemon_does_not_outlive_the_program(self, tmp_path, token):
        done = run(f"(setsid sleep {token} >/dev/null 2>&1 &); setsid sleep {token} & echo done", tmp_path)
        assert (done.returncode, done.output) == (0, "done\n")
        assert not living(token)

    def test_a_program_that_does_not_exist_is_ours_to_explain(self, tmp_path):
        with pytest.raises(InstrumentError, match="/no/such/program"):
            run_bounded(["/no/such/program"], tmp_path, ENV, 1, 1)


@pytest.mark.usefixtures("ward")
@pytest.mark.skipif(not confine.version(), reason="this machine cannot confine a program")
class TestConfined:
    """A program that may write in one directory only."""

    @pytest.fixture
    def own(self, tmp_path):
        (tmp_path / "own" / "folder").mkdir(parents=True)
        (tmp_path / "file").write_text("whole")
        (tmp_path / "own" / "link").symlink_to(tmp_path)
        return tmp_path / "own"

    @pytest.fixture
    def confined(self, own):
        return lambda script: run(script, own, writable=[own])

    def test_it_writes_in_its_own(self, confined, own):
        script = "echo x > a && mv a folder/b && ln folder/b c && rm c && echo x > /dev/null"
        assert confined(f"{script} && cat ../file").output == "whole"
        assert (own / "folder" / "b").read_text() == "x\n"

    @pytest.mark.parametrize(
        "script",
        [
            "echo x > ../file",
            "echo x >> ../file",
            "echo x > link/new",
            "truncate -s 0 ../file",
            "rm ../file",
            "mv ../file ../other",
            "ln ../file here",
            "ln -s x ../new",
            "mkdir ../new",
            "mkfifo pipe",
            "mknod null c 1 3",
            "mount --bind . ..",
            "umount /proc",
            "unshare --mount --user --map-root-user mount --bind . ..",
            "setsid --wait bash -c 'echo x > ../file'",
            "echo x > /proc/1/root$PWD/../file",
            "echo x > /proc/sys/kernel/hostname",
        ],
    )
    def test_it_does_not_write_elsewhere(self, confined, tmp_path, script):
        if "truncate" in script and confine.version() < confine.TRUNCATE_SINCE:
            pytest.skip("this kernel lets it empty files")
        assert confined(script).returncode not in {0, 127}
        assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "own"]
        assert (tmp_path / "file").read_text() == "whole"

    @pytest.mark.skipif(confine.version() < confine.SCOPES_SINCE, reason="this kernel lets it send signals")
    def test_it_can_signal_nobody_but_its_own(self, confined, token, tmp_path):
        with spawn(["/bin/sleep", token], tmp_path, ENV) as other:
            others = f"$PPID {os.getpid()} {other.pid}"
            done = confined(f"for it in {others}; do kill -0 $it || echo no; done; sleep 9 & kill $! && echo done")
        assert [line for line in done.output.splitlines() if line in {"no", "done"}] == ["no", "no", "no", "done"]

    @pytest.mark.parametrize("script", ["cat < /proc/$W/fd/0", "echo x > /proc/$W/fd/1", "echo x > /proc/$W/mem"])
    def test_it_cannot_reach_into_its_warden(self, confined, script):
        assert "Permission denied" in confined(f"W=$PPID; {script}; true").output


@pytest.mark.usefixtures("ward")
def test_a_file_does_not_grow_without_end(tmp_path):
    assert run("truncate -s 20G big", tmp_path).returncode not in {0, 127}


@pytest.mark.usefixtures("ward")
class TestChild:
    def test_kill_tree_ends_all_and_may_be_repeated(self, tmp_path, token):
        child = spawn([BASH, "-c", f"trap '' TERM INT HUP; setsid sleep {token} & sleep {token}"], tmp_path, ENV)
        until(lambda: len(living(token)) == 2)
        child.kill_tree()
        child.kill_tree()
        assert not living(token)
        assert not child.running
        assert not psutil.pid_exists(child.pid)

    def test_the_log_can_be_read_while_it_runs(self, tmp_path, token):
        with spawn([BASH, "-c", f"echo ready; exec sleep {token}"], tmp_path, ENV) as child:
            until(lambda: child.log() == "ready\n")
            assert child.process.name() == "sleep"
            assert child.returncode is None
            assert not child.wait(0)
        assert not living(token)

    def test_an_error_in_the_body_ends_it(self, tmp_path, token):
        def interrupted():
            with spawn([BASH, "-c", f"exec sleep {token}"], tmp_path, ENV):
                until(lambda: living(token))
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert not living(token)

    def test_a_descriptor_is_handed_down_and_no_other(self, tmp_path):
        here, there = os.pipe()
        with spawn([BASH, "-c", f"echo hello >&{there}; ls /dev/fd"], tmp_path, ENV, pass_fds=[there]) as child:
            os.close(there)
            assert child.wait(LONG_S)
            with os.fdopen(here) as pipe:
                assert pipe.read() == "hello\n"
            fds = {int(name) for name in child.log().split()}
        # `ls` itself opens the next free one.
        assert len(fds - {0, 1, 2, there}) <= 1

    def test_it_ends_when_its_owner_is_killed(self, tmp_path, token, ward):
        owner = f"""
import time
from pathlib import Path
from pytest_lendbench.bench import process
if {ward!r} == "plain":
    process._namespace = lambda: ()
child = process.spawn([{BASH!r}, "-c", "setsid sleep {token} & sleep {token}"], Path({str(tmp_path)!r}), {ENV!r})
child.wait(None)
"""
        with subprocess.Popen([sys.executable, "-c", owner]) as popen:
            until(lambda: len(living(token)) == 2)
            popen.kill()
        until(lambda: not living(token))


def test_the_log_keeps_both_ends():
    log = process._Log(10)
    for part in (b"abc", b"defgh", b"ijklmnop", b"q"):
        log.add(part)
    assert log.text() == "abcde\n[… 7 bytes left out …]\nmnopq"


def test_a_short_log_is_whole():
    log = process._Log(10)
    log.add(b"abc")
    log.add(b"defghij")
    assert log.text() == "abcdefghij"
