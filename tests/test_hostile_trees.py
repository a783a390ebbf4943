"""What a hostile or careless candidate tree may have in it, and what becomes of it. One table, row by row.

Nothing is built here: what counts is what is refused, what is found against the contract, and what reaches the clean
tree. How a tree is read while it changes is in `test_reading.py`; what code does that was let in, in `test_attacks.py`.
"""

import os
import shutil
import socket
import stat
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_lendbench.bench import assembly, grading, layout
from pytest_lendbench.bench.gate import GateResult
from pytest_lendbench.bench.grading import prepare
from pytest_lendbench.rules.errors import CandidateRefused

IGNORED = shutil.ignore_patterns("node_modules", ".next", "*.tsbuildinfo")
STATUS = "src/items/status.ts"


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A place of its own for temporary files; nothing may be left there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def candidate(tmp_path):
    return Path(shutil.copytree(layout.fixture() / "app", tmp_path / "candidate", ignore=IGNORED))


@pytest.fixture
def prepared(monkeypatch):
    """Prepares a tree as a grading does, up to the gate."""
    monkeypatch.setattr(grading, "run_gate", lambda *_: GateResult(True, None, "", 0.0))
    made = []

    def make(tree):
        made.append(prepare(tree, "build", lambda _: None))
        return made[-1]

    yield make
    for one in made:
        shutil.rmtree(one.run_dir)


@dataclass(frozen=True)
class Row:
    """One thing a tree may have.

    Attributes:
        make: Puts it into a tree that is otherwise the untouched app.
        refused: What the refusal says of it; `None`: the tree is graded.
        classes: The classes of the contract that it violates.
        unwalked: The names at the top that are not walked for it.
    """

    make: Callable[[Path], object]
    refused: str | None = None
    classes: tuple[str, ...] = ()
    unwalked: tuple[str, ...] = ()


def link(path: str, target: str) -> Callable[[Path], object]:
    return lambda tree: (tree / path).symlink_to(target)


def write(path: str, text: str = "// mine\n") -> Callable[[Path], object]:
    def make(tree: Path) -> None:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)

    return make


def name(raw: bytes) -> Callable[[Path], object]:
    return lambda tree: Path(os.fsdecode(os.fsencode(tree) + b"/src/" + raw)).write_bytes(b"")


def names(*raw: bytes) -> Callable[[Path], object]:
    return lambda tree: [name(one)(tree) for one in raw]


def a_socket(tree: Path) -> None:
    before = Path.cwd()
    os.chdir(tree / "src")  # a socket's address must be short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind("socket")
    finally:
        os.chdir(before)


def a_hard_link(tree: Path) -> None:
    (tree.parent / "outside.ts").write_text("// mine\n")
    (tree / STATUS).unlink()
    (tree / STATUS).hardlink_to(tree.parent / "outside.ts")


def a_giant(tree: Path) -> None:
    with (tree / "giant").open("wb") as file:
        file.truncate(50_000_000_000)


def many_files(tree: Path) -> None:
    (tree / "many").mkdir()
    for number in range(20_001):
        (tree / "many" / str(number)).touch()


def a_repository(tree: Path) -> None:
    """With everything that would run on a `git status`."""
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    program = tree / ".git" / "hooks" / "run"
    program.write_text(f"#!/bin/sh\ntouch {tree.parent / 'it-ran'}\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "filter.x.clean", "diff.external"):
        subprocess.run(["git", "config", key, str(program)], cwd=tree, check=True)
    shutil.copy(program, tree / ".git" / "hooks" / "post-index-change")


ROWS = {
    "link to a file": Row(link("src/link.ts", "items/status.ts"), "src/link.ts: a symbolic link"),
    "link to a folder": Row(link("src/link", "items"), "src/link: a symbolic link"),
    "dangling link": Row(link("src/link", "nowhere"), "src/link: a symbolic link"),
    "link to itself": Row(link("src/link", "link"), "src/link: a symbolic link"),
    "link into the host": Row(link("src/link", "/etc/passwd"), "src/link: a symbolic link"),
    "link up the tree": Row(link("src/link", ".."), "src/link: a symbolic link"),
    "link for a writable file": Row(
        lambda tree: ((tree / STATUS).unlink(), link(STATUS, "/etc/passwd")(tree)), f"{STATUS}: a symbolic link"
    ),
    "fifo": Row(lambda tree: os.mkfifo(tree / "src" / "pipe"), "src/pipe: a named pipe"),
    "socket": Row(a_socket, "src/socket: a socket"),
    "device": Row(
        lambda tree: os.mknod(tree / "src" / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3)),
        "src/null: a device or other special file",
    ),
    "setuid and setgid": Row(lambda tree: (tree / STATUS).chmod(0o6755)),
    "hard link": Row(a_hard_link),
    "node_modules in a writable folder": Row(
        write("src/items/node_modules/react/index.js"), "src/items/node_modules: a node_modules folder"
    ),
    "node_modules at the top": Row(write("node_modules/react/index.js"), unwalked=("node_modules",)),
    ".next at the top": Row(write(".next/BUILD_ID"), unwalked=(".next",)),
    ".git that runs programs": Row(a_repository, unwalked=(".git",)),
    ".git that is a file": Row(write(".git", "gitdir: /elsewhere\n"), unwalked=(".git",)),
    ".npmrc": Row(write(".npmrc", "node-options=--require=/evil.js\n"), classes=("added",)),
    "package scripts": Row(write("package.json", '{"scripts": {"prebuild": "false"}}'), classes=("protected",)),
    **{
        f"added {path}": Row(write(path), classes=("added",))
        for path in (
            ".opencode/plugin/evil.js",
            ".claude/settings.json",
            "conftest.py",
            "pytest.ini",
            "sitecustomize.py",
            "src/items/conftest.py",
            "next.config.js",
            "next.config.mjs",
            "vitest.config.mts",
            "postcss.config.js",
            "babel.config.js",
            ".swcrc",
            "jsconfig.json",
            ".env",
            ".env.production.local",
            "instrumentation.ts",
            "src/instrumentation.ts",
            "src/instrumentation-client.ts",
            "proxy.ts",
            "src/proxy.ts",
            "src/middleware.ts",
            "src/pages/index.tsx",
            "src/app/items/route.ts",
            "src/app/items/layout.tsx",
            "public/evil.js",
        )
    },
    **{
        f"changed {path}": Row(write(path), classes=("protected",))
        for path in (
            "next.config.ts",
            "vitest.config.ts",
            "postcss.config.mjs",
            "tsconfig.json",
            "package-lock.json",
            "src/db/driver.ts",
            "src/db/memory.ts",
            "src/lib/clock.ts",
        )
    },
    **{
        f"toolchain's {path}": Row(write(path))
        for path in ("next-env.d.ts", "tsconfig.tsbuildinfo", "coverage/index.html", "test-results/a/b.png")
    },
    "AGENTS.md": Row(write("AGENTS.md"), classes=("added",)),
    "newline in a name": Row(name(b"new\nline.ts"), classes=("added",)),
    "direction mark in a name": Row(name("right\u202eleft.ts".encode()), classes=("added",)),
    "terminal escape in a name": Row(name(b"\x1b[2J.ts"), classes=("added",)),
    "invalid UTF-8 in a name": Row(name(b"\xff\xfe.ts"), classes=("added",)),
    "names that differ in case": Row(names(b"Twin.ts", b"twin.ts"), classes=("added",)),
    "names that differ in normal form": Row(names("é.ts".encode(), "e\u0301.ts".encode()), classes=("added",)),
    "a writable file's name in another case": Row(name(b"items/STATUS.ts"), classes=("added",)),
    "sparse giant": Row(a_giant, "giant has 50,000,000,000"),
    "too many files": Row(many_files, "more than 20,000 entries"),
    "nesting without end": Row(
        lambda tree: (tree / "src" / Path(*["d"] * 80)).mkdir(parents=True), "deeper than 32 folders"
    ),
    "mtimes of all times": Row(
        lambda tree: [os.utime(tree / STATUS, (0, 0)), os.utime(tree / "package.json", (2**33, 2**33))]
    ),
    "unreadable modes": Row(lambda tree: (tree / STATUS).chmod(0o000), None if os.geteuid() == 0 else "cannot be read"),
}


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in ROWS.items()])
def test_a_tree_is_refused_or_graded_without_it(candidate, prepared, tmp_path, row):
    try:
        row.make(candidate)
    except OSError as error:
        pytest.skip(f"this machine does not let us make it: {error}")
    if row.refused is not None:
        with pytest.raises(CandidateRefused) as caught:
            prepared(candidate)
        assert row.refused in str(caught.value)
        return
    found = prepared(candidate)
    assert found.contract.violated_classes == row.classes
    assert tuple(found.provenance["unwalked"]) == row.unwalked
    for path, _ in (*found.contract.added, *found.contract.protected):
        assert path.isprintable()
    assert not (tmp_path / "it-ran").exists()
    assert graded_tree(found) == clean_tree(candidate, tmp_path, found)


def graded_tree(found):
    """All paths of the clean tree, and what they are: kind, mode and content."""
    return picture(Path(found.tree))


def clean_tree(candidate, tmp_path, found):
    """The same of a tree that is made from the pristine app and the candidate's writable files alone."""
    task = layout.track("build")
    files = {path: (candidate / path).read_bytes() for path in task.writable if (candidate / path).is_file()}
    assembly.assemble(tmp_path / "clean", files, Path(found.node_modules))
    return picture(tmp_path / "clean")


def picture(tree):
    found = {}
    for path in tree.rglob("*"):
        mode = path.lstat().st_mode
        content = path.read_bytes() if stat.S_ISREG(mode) else path.readlink() if stat.S_ISLNK(mode) else None
        found[str(path.relative_to(tree))] = (stat.S_IFMT(mode), stat.S_IMODE(mode) & 0o7000, content)
    links = {path for path, (kind, _, _) in found.items() if stat.S_ISLNK(kind)}
    assert links == {"node_modules"}
    assert not any(special for _, special, _ in found.values())
    return found
