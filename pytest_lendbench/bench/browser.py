"""Finding a Chromium that Playwright can drive. As a program: exit 0 and its path, or exit 1 and what to do."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import playwright

from pytest_lendbench.rules.errors import InstrumentError

SYSTEM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Names on the PATH, the quickest first."""
_MAC_CHROME = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
_HOW_TO_GET_ONE = (
    "Run `python -m playwright install --with-deps chromium`, or install Chromium with the system's package manager "
    "(Debian: `apt-get install chromium-headless-shell`)."
)


@dataclass(frozen=True)
class Browser:
    """A browser that starts.

    Attributes:
        executable: The program; `None`: the one that Playwright installed itself and finds by itself.
        version: What it calls itself.
    """

    executable: Path | None
    version: str


def find_browser(*, headed: bool = False) -> Browser:
    """Playwright's own browser where it is installed, else a Chromium or Chrome of the system.

    Args:
        headed: Whether it must be able to open windows.

    Raises:
        InstrumentError: There is none that runs. Says how to get one.
    """
    own = _playwrights_own(headed=headed)
    if own is not None:
        return Browser(None, _version(own))
    broken = ""
    for program in _of_the_system(headed=headed):
        try:
            return Browser(program, _version(program))
        except InstrumentError as error:
            broken = f" {error.what}"
    raise InstrumentError(f"There is no browser.{broken}", _HOW_TO_GET_ONE)


def _playwrights_own(*, headed: bool) -> Path | None:
    """Its headless shell or all of Chromium, looked up as Playwright does, which to ask would start a Node process."""
    package = Path(playwright.__file__).parent / "driver" / "package"
    name = "chromium" if headed else "chromium-headless-shell"
    listed = json.loads((package / "browsers.json").read_text(encoding="utf-8"))["browsers"]
    revision = next(one["revision"] for one in listed if one["name"] == name)
    place = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or ""
    linux = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    caches = Path.home() / "Library/Caches" if sys.platform == "darwin" else linux
    root = package / ".local-browsers" if place == "0" else Path(place or caches / "ms-playwright")
    folder = root / f"{name.replace('-', '_')}-{revision}"
    if not (folder / "INSTALLATION_COMPLETE").is_file():
        return None
    program = "chrome" if headed else "*headless*shell"
    macs = ["*/*.app/Contents/MacOS/*"] if headed else []
    found = (path for pattern in (f"*/{program}", *macs) for path in folder.glob(pattern) if path.is_file())
    return next(found, None)


def _of_the_system(*, headed: bool) -> list[Path]:
    names = SYSTEM_NAMES[1:] if headed else SYSTEM_NAMES
    found = [Path(path) for name in names if (path := shutil.which(name))]
    return [*found, _MAC_CHROME] if _MAC_CHROME.is_file() else found


def _version(program: Path) -> str:
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise InstrumentError(f"{program} does not run: {error}.", _HOW_TO_GET_ONE) from error
    return re.sub(r"\s+", " ", answer.stdout).strip()


if __name__ == "__main__":
    try:
        browser = find_browser()
    except InstrumentError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    sys.stdout.write(f"{browser.executable or 'Playwright: Chromium'}: {browser.version}\n")
