"""Where the checks, the probes and the fixture are: in a source checkout or inside the installed wheel."""

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

from pytest_lendbench.rules.errors import InstrumentError, UsageProblem

_PACKAGE = Path(__file__).resolve().parent.parent

NODE_SOURCES = _PACKAGE / "bench" / "node"
"""Our own JavaScript and TypeScript."""


@functools.cache
def suite_root() -> Path:
    """The folder that holds `checks`, `probes`, `conftest.py` and `fixture`.

    Raises:
        InstrumentError: The installation is not whole.
    """
    for place in (_PACKAGE / "suite", _PACKAGE.parent):
        if all((place / part).exists() for part in ("checks", "probes", "conftest.py", "fixture/app")):
            return place
    raise InstrumentError(
        f"The checks and the fixture are missing beside {_PACKAGE}.", "Install pytest-lendbench again."
    )


def fixture() -> Path:
    """The folder with `app`, `reference`, `alternates`, `defects`, `variants` and `tracks`."""
    return suite_root() / "fixture"


@dataclass(frozen=True)
class Track:
    """One of the tasks.

    Attributes:
        name: As in `--track`.
        writable: The files a candidate may change, relative to the app's root, with `/`.
    """

    name: str
    writable: tuple[str, ...]


def tracks() -> tuple[str, ...]:
    """The names of all tracks, sorted."""
    return tuple(sorted(path.stem for path in (fixture() / "tracks").glob("*.toml")))


def track(name: str) -> Track:
    """Loads `fixture/tracks/NAME.toml`.

    Raises:
        UsageProblem: There is no such track.
        InstrumentError: Its file is broken.
    """
    if name not in tracks():
        raise UsageProblem(f"There is no track {name!r}. Choose one of: {', '.join(tracks())}.")
    path = fixture() / "tracks" / f"{name}.toml"
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        return Track(name=found["name"], writable=tuple(found["writable"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InstrumentError(f"{path} cannot be read: {error!r}.", "Repair the file.") from error
