"""The baseline of the analysis: what is found in the reference itself, committed as `fixture/baseline.json`."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from pytest_lendbench.bench import layout
from pytest_lendbench.rules.errors import InstrumentError
from pytest_lendbench.rules.quality import Baseline, Diagnostic, counted

_ANALYSIS = Path(__file__).with_name("analysis.py")
_REWRITE = "Run `lendbench baseline` and commit the file."


def path() -> Path:
    """Where it is."""
    return layout.fixture() / "baseline.json"


def read() -> Baseline:
    """The committed baseline.

    Raises:
        InstrumentError: There is none, or it was made of another app, reference, analyzer or way of asking it.
    """
    try:
        said = json.loads(path().read_text("utf-8"))
        of, counts = said["of"], {(rule, file): count for rule, file, count in said["counts"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InstrumentError(f"The baseline {path()} cannot be read: {error!r}.", _REWRITE) from error
    if of != sources_digest():
        raise InstrumentError(f"The baseline {path()} is stale: what it was made of has changed since.", _REWRITE)
    return counts


def write(diagnostics: Iterable[Diagnostic]) -> None:
    """Writes what was found in the reference as the baseline."""
    counts = [[rule, file, count] for (rule, file), count in sorted(counted(diagnostics).items())]
    lines = ",\n".join(f"    {json.dumps(count)}" for count in counts)
    path().write_text(f'{{\n  "of": "{sources_digest()}",\n  "counts": [\n{lines}\n  ]\n}}\n', "utf-8")


def digest() -> str:
    """The SHA-256 of the committed file.

    Raises:
        InstrumentError: It cannot be read.
    """
    try:
        return hashlib.sha256(path().read_bytes()).hexdigest()
    except OSError as error:
        raise InstrumentError(f"The baseline {path()} cannot be read: {error}.", _REWRITE) from error


def sources_digest() -> str:
    """The SHA-256 of all that a baseline depends on."""
    found = hashlib.sha256()
    for name in ("app", "reference"):
        folder = layout.fixture() / name
        for file in sorted(folder.rglob("*")):
            inner = file.relative_to(folder)
            if file.is_file() and inner.parts[0] not in {"node_modules", ".next"} and file.suffix != ".tsbuildinfo":
                found.update(f"{name}/{inner.as_posix()}\0".encode() + file.read_bytes() + b"\0")
    for script in (layout.NODE_SOURCES / "compiler.mjs", layout.NODE_SOURCES / "package-lock.json", _ANALYSIS):
        found.update(script.read_bytes() + b"\0")
    return found.hexdigest()
