"""Finding a browser."""

import json
import subprocess
import sys
from pathlib import Path

import playwright
import pytest

from pytest_lendbench.bench import browser
from pytest_lendbench.bench.browser import Browser, find_browser
from pytest_lendbench.rules.errors import InstrumentError


def program(path, script="echo Chromium 1.2"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def bare(tmp_path, monkeypatch):
    """A machine without a browser."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "own"))
    monkeypatch.setattr(browser, "_MAC_CHROME", tmp_path / "none")


def playwrights_own(tmp_path):
    listed = json.loads((Path(playwright.__file__).parent / "driver/package/browsers.json").read_text())["browsers"]
    revision = next(one["revision"] for one in listed if one["name"] == "chromium-headless-shell")
    folder = tmp_path / "own" / f"chromium_headless_shell-{revision}"
    program(folder / "chrome-headless-shell-linux64" / "chrome-headless-shell", "echo Own 9")
    (folder / "INSTALLATION_COMPLETE").write_text("")
    return folder


def test_none_is_explained():
    with pytest.raises(InstrumentError) as caught:
        find_browser()
    assert caught.value.what == "There is no browser."
    assert "playwright install" in caught.value.todo


def test_the_quickest_of_the_system_is_taken(tmp_path):
    for name in ("google-chrome", "chromium", "chromium-headless-shell"):
        found = program(tmp_path / "bin" / name)
        assert find_browser() == Browser(found, "Chromium 1.2")


def test_one_that_does_not_run_is_passed_over(tmp_path):
    program(tmp_path / "bin" / "chromium-headless-shell", "exit 1")
    found = program(tmp_path / "bin" / "chromium")
    assert find_browser().executable == found


def test_when_none_runs_that_is_said(tmp_path):
    found = program(tmp_path / "bin" / "chromium", "exit 1")
    with pytest.raises(InstrumentError, match=f"{found} does not run"):
        find_browser()


def test_playwrights_own_comes_first(tmp_path):
    program(tmp_path / "bin" / "chromium")
    playwrights_own(tmp_path)
    assert find_browser() == Browser(None, "Own 9")


def test_a_half_installed_one_is_none(tmp_path):
    (playwrights_own(tmp_path) / "INSTALLATION_COMPLETE").unlink()
    found = program(tmp_path / "bin" / "chromium")
    assert find_browser().executable == found


@pytest.mark.skipif(sys.platform == "darwin", reason="There Playwright does not ask that variable.")
def test_playwrights_own_is_looked_for_in_the_users_cache(tmp_path, monkeypatch):
    playwrights_own(tmp_path)
    (tmp_path / "own").rename(tmp_path / "ms-playwright")
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert find_browser() == Browser(None, "Own 9")


@pytest.mark.parametrize("there", [True, False])
def test_as_a_program_it_tells_by_its_status(tmp_path, there):
    if there:
        program(tmp_path / "bin" / "chromium")
    done = subprocess.run(
        [sys.executable, "-m", "pytest_lendbench.bench.browser"], capture_output=True, text=True, check=False
    )
    assert done.returncode == (0 if there else 1)
    assert ("Chromium 1.2" in done.stdout) if there else ("playwright install" in done.stderr)


def test_windows_need_more_than_a_headless_shell(tmp_path):
    playwrights_own(tmp_path)
    program(tmp_path / "bin" / "chromium-headless-shell")
    found = program(tmp_path / "bin" / "chromium")
    assert find_browser(headed=True).executable == found
