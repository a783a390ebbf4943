"""Reading a tree that is not trusted."""

import hashlib
import os
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.bench import reading
from pytest_lendbench.bench.reading import Limits, printable, read_tree
from pytest_lendbench.rules.errors import CandidateRefused


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.ts").write_bytes(b"export {};\n")
    return root


def sha(content):
    return hashlib.sha256(content).hexdigest()


def refusal(root, **more):
    with pytest.raises(CandidateRefused) as caught:
        read_tree(root, **more)
    return caught.value.what


def test_files_are_hashed_and_the_wanted_ones_kept(tree):
    (tree / "b").write_bytes(b"x")
    found = read_tree(tree, keep=["src/a.ts", "src/missing.ts"])
    assert found.files == {b"src/a.ts": sha(b"export {};\n"), b"b": sha(b"x")}
    assert found.kept == {"src/a.ts": b"export {};\n"}
    assert found.unwalked == ()


def test_line_endings_do_not_change_a_digest_but_content_is_kept_as_it_is(tree):
    (tree / "b").write_bytes(b"x\r\ny\r\n")
    found = read_tree(tree, keep=["b"])
    assert found.files[b"b"] == sha(b"x\ny\n")
    assert found.kept["b"] == b"x\r\ny\r\n"


def test_what_tools_leave_at_the_top_is_not_walked_and_said(tree):
    (tree / ".git").write_text("gitdir: elsewhere")
    (tree / ".next").mkdir()
    (tree / ".next" / "link").symlink_to("/etc/passwd")
    (tree / "node_modules").symlink_to("/nowhere")
    found = read_tree(tree)
    assert found.unwalked == (".git", ".next", "node_modules")
    assert set(found.files) == {b"src/a.ts"}


def test_the_root_may_be_a_link(tree, tmp_path):
    (tmp_path / "link").symlink_to(tree)
    assert read_tree(tmp_path / "link") == read_tree(tree)


@pytest.mark.parametrize("target", ["a.ts", "/etc/passwd", "..", "nowhere", "link"])
def test_symbolic_links_are_refused(tree, target):
    (tree / "src" / "link").symlink_to(target)
    assert "src/link: a symbolic link" in refusal(tree)


def test_every_flaw_is_listed(tree, tmp_path, monkeypatch):
    os.mkfifo(tree / "pipe")
    (tree / "link").symlink_to("x")
    (tree / "src" / "node_modules").mkdir()
    monkeypatch.chdir(tree)  # a socket's address must be short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        what = refusal(tree)
    assert [line.split(":")[0].strip() for line in what.splitlines()[1:]] == [
        "link",
        "pipe",
        "socket",
        "src/node_modules",
    ]
    assert "a named pipe" in what
    assert "a socket" in what
    assert "node_modules" in what


def test_a_package_folder_inside_is_refused_however_deep(tree):
    (tree / "src" / "x" / "node_modules").mkdir(parents=True)
    assert "src/x/node_modules" in refusal(tree)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
@pytest.mark.parametrize("path", ["src", "src/a.ts"])
def test_what_cannot_be_read_is_refused(tree, path):
    (tree / path).chmod(0)
    try:
        assert f"{path}: cannot be read" in refusal(tree)
    finally:
        (tree / path).chmod(0o755)


@pytest.mark.parametrize("path", [b"src", b"a.ts"])
def test_a_failure_to_open_is_refused(tree, path, monkeypatch):
    original = os.open

    def failing(name, *args, **more):
        if name == path:
            raise PermissionError(13, "Permission denied")
        return original(name, *args, **more)

    monkeypatch.setattr(os, "open", failing)
    assert "cannot be read (Permission denied)" in refusal(tree)


def test_a_root_that_is_no_directory_is_refused(tree):
    assert "cannot be read" in refusal(tree / "src" / "a.ts")


def test_a_sparse_giant_is_refused_unread(tree):
    with (tree / "giant").open("wb") as file:
        file.truncate(50_000_000_000)
    assert "giant has 50,000,000,000" in refusal(tree)


def test_too_many_entries_are_refused(tree):
    for number in range(10):
        (tree / f"{number}").mkdir()
    assert "more than 8 entries" in refusal(tree, limits=Limits(count=8))


def test_nesting_without_end_is_refused(tree):
    (tree / Path(*["d"] * 80)).mkdir(parents=True)
    assert "deeper than 32 folders" in refusal(tree)


def test_odd_names_are_read_like_any_other(tree):
    names = [b"new\nline", b"\xff\xfe", "right\u202eleft".encode(), b"CASE", b"case", "é".encode(), "e\u0301".encode()]
    for name in names:
        (Path(os.fsdecode(os.fsencode(tree) + b"/" + name))).write_bytes(b"")
    assert set(read_tree(tree).files) >= set(names)


def test_a_file_that_is_replaced_meanwhile_is_noticed(tree, monkeypatch):
    original = reading._content

    def late(top, path, expected):
        (tree / "src" / "a.ts").unlink()
        os.mkfifo(tree / "src" / "a.ts")
        return original(top, path, expected)

    monkeypatch.setattr(reading, "_content", late)
    assert "changed meanwhile" in refusal(tree)


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(tree, monkeypatch, tmp_path):
    original = reading._content
    outside = tmp_path / "outside"

    def late(top, path, expected):
        (tree / "src").rename(outside)
        (tree / "src").symlink_to(outside)
        return original(top, path, expected)

    monkeypatch.setattr(reading, "_content", late)
    assert "src/a.ts: cannot be read" in refusal(tree)


def test_a_file_that_comes_meanwhile_is_noticed(tree, monkeypatch):
    original = reading._content

    def late(top, path, expected):
        (tree / "new").write_text("")
        return original(top, path, expected)

    monkeypatch.setattr(reading, "_content", late)
    assert "changed while it was being read" in refusal(tree)


def test_a_tree_that_is_written_to_all_the_time_is_never_read_torn(tree):
    stop = threading.Event()
    contents = [b"a" * 300_000, b"b" * 300_000]

    def write():
        number = 0
        while not stop.is_set():
            number += 1
            (tree / "busy").write_bytes(contents[number % 2])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(50):
            try:
                found = read_tree(tree, keep=["busy"]).kept.get("busy", b"")
            except CandidateRefused:
                continue
            assert len(set(found)) <= 1  # all of one writing, be it cut short
    finally:
        stop.set()
        writer.join()


def test_no_descriptor_is_left_open(tree):
    (tree / "src" / "link").symlink_to("x")
    before = sorted(Path("/dev/fd").iterdir())
    refusal(tree)
    assert sorted(Path("/dev/fd").iterdir()) == before


@given(st.binary(min_size=1, max_size=40))
def test_a_printable_path_is_one_plain_line(path):
    shown = printable(path)
    assert shown.isprintable()
    assert len(shown.splitlines()) == 1


@given(st.text(st.characters(whitelist_categories=["L", "N", "P", "S"]), min_size=1))
def test_a_plain_path_is_shown_as_it_is(path):
    assert printable(path.encode()) == path
