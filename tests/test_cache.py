"""Things that are made once on a machine."""

import os
import subprocess
import sys

import pytest

from pytest_lendbench.bench import cache
from pytest_lendbench.rules.errors import InstrumentError


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(cache.platformdirs, "user_cache_path", lambda *_, **__: tmp_path)
    return tmp_path


def ignore(_sentence):
    pass


def test_it_is_made_once(root):
    calls = []

    def make(into):
        calls.append(into)
        (into / "file").write_text("x")

    first = cache.once("thing", make, ignore)
    assert cache.once("thing", make, ignore) == first
    assert (first / "file").read_text() == "x"
    assert len(calls) == 1


def test_what_was_made_is_read_only_and_links_are_left_alone(root):
    outside = root / "outside"
    outside.write_text("x")

    def make(into):
        (into / "folder").mkdir()
        (into / "folder" / "file").write_text("x")
        (into / "link").symlink_to(outside)

    made = cache.once("thing", make, ignore)
    assert not any((made / path).stat().st_mode & 0o222 for path in ("folder", "folder/file"))
    assert outside.stat().st_mode & 0o200


def test_a_failure_leaves_nothing(root):
    def fail(into):
        (into / "folder").mkdir()
        raise InstrumentError("No network.", "Connect.")

    with pytest.raises(InstrumentError, match="No network"):
        cache.once("thing", fail, ignore)
    assert [path.name for path in root.iterdir() if path.is_dir()] == []
    assert cache.once("thing", ignore, ignore).is_dir()


def test_what_a_killed_grading_left_behind_is_replaced(root):
    half = root / "thing.half" / "folder"
    half.mkdir(parents=True)
    (half / "torn").write_text("x")
    half.chmod(0o555)
    assert list(cache.once("thing", ignore, ignore).iterdir()) == []


def test_a_cache_that_cannot_be_written_is_explained(root, monkeypatch):
    (root / "file").write_text("")
    monkeypatch.setattr(cache.platformdirs, "user_cache_path", lambda *_, **__: root / "file")
    with pytest.raises(InstrumentError, match="XDG_CACHE_HOME"):
        cache.once("thing", ignore, ignore)


def test_two_at_once_make_it_once(tmp_path):
    script = """
import sys
from pathlib import Path
from pytest_lendbench.bench import cache

def make(into):
    print("making", flush=True)
    sys.stdin.readline()
    (into / "file").write_text("whole")

print(cache.once("thing", make, lambda words: print("waiting", flush=True)).joinpath("file").read_text(), flush=True)
"""
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}

    def start():
        return subprocess.Popen(
            [sys.executable, "-c", script], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    with start() as first:
        assert first.stdout.readline() == "making\n"
        with start() as second:
            assert second.stdout.readline() == "waiting\n"
            assert first.communicate("go\n")[0] == "whole\n"
            assert second.communicate()[0] == "whole\n"


def test_what_was_not_used_for_longest_is_forgotten(root):
    for name in ("built-a", "built-b", "built-c", "other"):
        cache.once(name, lambda into: (into / "file").write_text("x"), print)
    for at, name in enumerate(("built-a", "built-b", "built-c", "other")):
        os.utime(root / name, (at, at))
    assert cache.existing("built-a") == root / "built-a"
    cache.forget("built-", 2)
    assert sorted(path.name for path in root.iterdir() if path.is_dir()) == ["built-a", "built-c", "other"]
    assert cache.existing("built-b") is None
