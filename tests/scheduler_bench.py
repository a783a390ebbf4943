"""What the tests of the store share: the built scheduler app, servers of it, and a busy machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_lendbench.bench import assembly, cache, gate, toolchain
from pytest_lendbench.bench.desk import Desk
from pytest_lendbench.bench.layout import NODE_SOURCES, fixture
from pytest_lendbench.bench.server import AppServer
from pytest_lendbench.bench.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

APP = Path(__file__).with_name("scheduler_app")


@dataclass(frozen=True)
class Bench:
    """A server of the scheduler app, its store, and a client."""

    server: AppServer
    store: Store
    desk: Desk


def built_tree(tools: toolchain.Toolchain) -> Path:
    """The scheduler app with the app's data functions and the graded driver, built once on a machine."""
    with tempfile.TemporaryDirectory(prefix="lendbench-scheduler-") as folder:
        tree, scratch = Path(folder, "tree"), Path(folder, "tmp")
        scratch.mkdir()
        shutil.copytree(APP, tree)
        for part in ("db", "lib"):
            shutil.copytree(fixture() / "app" / "src" / part, tree / "src" / part)
        shutil.copy(NODE_SOURCES / "driver.ts", tree / "src" / "db" / "driver.ts")

        def make(into: Path) -> None:
            (tree / "node_modules").symlink_to(tools.node_modules, target_is_directory=True)
            failure = gate.build(tree, tools, scratch)
            assert failure is None, failure
            shutil.copytree(tree, into, symlinks=True, dirs_exist_ok=True)

        key = toolchain.digest(tools.key.encode(), assembly.tree_digest(tree).encode())
        return cache.once(f"scheduler-{key[:16]}", make, print)


@pytest.fixture(scope="session")
def tools() -> toolchain.Toolchain:
    return toolchain.provide(print)


@pytest.fixture(scope="session")
def scheduler_tree(tools: toolchain.Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return assembly.run_copy(built_tree(tools), tmp_path_factory.mktemp("scheduler") / "tree")


@pytest.fixture(scope="session")
def _shared_bench(scheduler_tree: Path, tools: toolchain.Toolchain) -> Iterator[Bench]:
    with running(scheduler_tree, tools.node) as bench:
        yield bench


@pytest.fixture
def bench(_shared_bench: Bench) -> Bench:
    _shared_bench.store.begin()
    return _shared_bench


@pytest.fixture
def own(scheduler_tree: Path, tools: toolchain.Toolchain) -> Iterator[Bench]:
    """A server of its own, for a test that may break it."""
    with running(scheduler_tree, tools.node) as bench:
        yield bench


@contextmanager
def running(tree: Path, node: Path) -> Iterator[Bench]:
    store = Store()
    try:
        with AppServer.boot(tree, node, store) as server:
            yield Bench(server, store, Desk(server, store))
    finally:
        store.close()


@contextmanager
def busy_machine() -> Iterator[None]:
    """Every processor has something else to do."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.fixture(params=["quiet", "busy"])
def machine(request: pytest.FixtureRequest) -> Iterator[str]:
    """The machine as it is, and with as many busy loops as it has processors."""
    if request.param == "quiet":
        yield "quiet"
    else:
        with busy_machine():
            yield "busy"
