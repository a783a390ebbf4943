"""Node and the packages."""

import os
import shutil
import subprocess

import pytest

from pytest_lendbench.bench import cache, layout, toolchain
from pytest_lendbench.rules.errors import InstrumentError


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """An otherwise empty PATH; call it to put a shell script there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(name, script):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return put


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    root = tmp_path / "cache"
    root.mkdir()
    monkeypatch.setattr(cache.platformdirs, "user_cache_path", lambda *_, **__: root)
    return root


def test_node_is_found_by_its_real_name(programs):
    programs("node", "printf '22.13.0\\n/opt/node/bin/node'")
    program, version = toolchain.find_node()
    assert (str(program), version) == ("/opt/node/bin/node", "22.13.0")


@pytest.mark.parametrize("version", ["20.19.0", "20.20.2", "22.13.0", "24.0.0", "100.0.0"])
def test_a_node_on_which_all_packages_run_is_taken(programs, version):
    programs("node", f"printf '{version}\\n/node'")
    assert toolchain.find_node()[1] == version


@pytest.mark.parametrize("version", ["20.18.3", "21.7.3", "22.12.0", "18.20.0", "9.0.0"])
def test_another_node_is_refused(programs, version):
    path = programs("node", f"printf '{version}\\n/node'")
    with pytest.raises(InstrumentError, match=f"{path} is Node {version}, on which not all packages run. Install Node"):
        toolchain.find_node()


def test_a_missing_node_is_explained(programs):
    with pytest.raises(InstrumentError, match=r"no `node` on the PATH. Install Node 20 from 20.19 on"):
        toolchain.find_node()


@pytest.mark.parametrize("script", ["exit 1", "echo what", "printf 'x.y\\n/node'"])
def test_a_node_that_does_not_work_is_explained(programs, script):
    programs("node", script)
    with pytest.raises(InstrumentError, match="does not run"):
        toolchain.find_node()


def test_packages_are_installed_from_the_lock_without_scripts_and_once(programs, empty_cache, tmp_path):
    programs("node", "printf '20.19.0\\n/node'")
    programs("npm", 'echo "$@" >> "$0.log"; /bin/mkdir node_modules; /bin/cp package-lock.json node_modules/copy')
    said = []
    tools = toolchain.provide(said.append)
    assert tools == toolchain.provide(said.append)
    calls = (tmp_path / "bin" / "npm.log").read_text().splitlines()
    assert len(calls) == len(said) == 2
    assert all(call.startswith("ci ") and "--ignore-scripts" in call for call in calls)
    assert (tools.node_modules / "copy").read_bytes() == (layout.fixture() / "app" / "package-lock.json").read_bytes()
    assert (tools.tools / "copy").read_bytes() == (layout.NODE_SOURCES / "package-lock.json").read_bytes()


def test_another_major_of_node_has_packages_of_its_own(programs, empty_cache):
    programs("npm", "/bin/mkdir node_modules")
    programs("node", "printf '20.19.0\\n/node'")
    first = toolchain.provide(lambda _: None)
    programs("node", "printf '22.13.0\\n/node'")
    assert toolchain.provide(lambda _: None).node_modules != first.node_modules


def test_a_failing_npm_is_quoted(programs, empty_cache):
    programs("node", "printf '20.19.0\\n/node'")
    programs("npm", "echo 'npm error code ENOTFOUND'; exit 1")
    with pytest.raises(InstrumentError, match=r"(?s)npm error code ENOTFOUND.*Check that this machine reaches"):
        toolchain.provide(lambda _: None)
    assert not [path for path in empty_cache.iterdir() if path.is_dir()]


def test_a_missing_npm_is_explained(programs, empty_cache):
    programs("node", "printf '20.19.0\\n/node'")
    with pytest.raises(InstrumentError, match="no `npm`"):
        toolchain.provide(lambda _: None)


def test_the_environment_of_a_candidate_holds_nothing_of_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("NPM_TOKEN", "secret")
    env = toolchain.environment(tmp_path / "bin" / "node", tmp_path)
    assert env["HOME"] == "/nonexistent"
    assert env["TMPDIR"] == str(tmp_path)
    assert env["PATH"].split(os.pathsep)[0] == str(tmp_path / "bin")
    assert set(env) == {"PATH", "HOME", "TMPDIR", "LANG", "CI", "NO_COLOR", "NEXT_TELEMETRY_DISABLED"}


def test_the_locks_hold_no_addresses():
    for folder in (layout.fixture() / "app", layout.NODE_SOURCES):
        assert '"resolved"' not in (folder / "package-lock.json").read_text()


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is missing")
def test_the_node_of_this_machine_is_found():
    program, version = toolchain.find_node()
    assert program.is_file()
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.strip() == f"v{version}"
