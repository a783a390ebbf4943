"""What two results must have in common to be compared: the app's revision, the suite, and the analysis' baseline."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_lendbench.bench import baseline, layout
from pytest_lendbench.rules.errors import CandidateRefused

_PACKAGE = Path(__file__).resolve().parent.parent
_NOT_JUDGING = {"faces", "cli.py", "matrix.py", "verification.py"}
"""Parts of the package on which no verdict and no score depends."""


def ruler(suite: Iterable[Path]) -> dict[str, str]:
    """The ruler of results that this installation makes.

    Args:
        suite: Files and folders of the checks.

    Returns:
        `revision`, and the SHA-256 of `suite` (with what of the grader judges) and `baseline`.
    """
    return {
        "revision": revision((layout.fixture() / "app" / "package.json").read_bytes()),
        "suite": digest(judging(suite)),
        "baseline": baseline.digest(),
    }


def judging(suite: Iterable[Path]) -> list[Path]:
    """All files on which a verdict depends beside the tree."""
    ours = [path for path in _files(_PACKAGE) if path.relative_to(_PACKAGE).parts[0] not in _NOT_JUDGING]
    tracks = layout.fixture() / "tracks"
    return [*(path for part in (*suite, tracks) for path in _files(part)), *ours]


def revision(package_json: bytes) -> str:
    """The revision of an app: `r` and the first number of the version in its package.json.

    Raises:
        ValueError: There is none in it.
    """
    try:
        version = json.loads(package_json)["version"]
        return f"r{int(version.partition('.')[0])}"
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("no version") from error


def refuse_other_revision(package_json: bytes | None) -> None:
    """Refuses a tree of a revision that this grader doesn't have. One that states none is taken for its own.

    Raises:
        CandidateRefused: It is of another revision.
    """
    own = revision((layout.fixture() / "app" / "package.json").read_bytes())
    try:
        stated = own if package_json is None else revision(package_json)
    except ValueError:
        return
    if stated != own:
        raise CandidateRefused(
            f"The tree is of the app's revision {stated} (by the version in its package.json), and this grader judges "
            f"{own}.",
            f"Grade it with the release of the grader that has {stated}.",
        )


def digest(files: Sequence[Path], *more: str) -> str:
    """The SHA-256 of these files, by name and content, and of these texts."""
    found = hashlib.sha256()
    for path in files:
        found.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    for text in more:
        found.update(text.encode() + b"\0")
    return found.hexdigest()


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    return sorted(path for path in place.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
