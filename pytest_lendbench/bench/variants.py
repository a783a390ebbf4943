"""The variants: changes of a correct implementation's source that must not alter any verdict.

Each is a module in `fixture/variants/changes`; `fixture/variants/apply.mjs` applies them.
"""

from __future__ import annotations

import functools
import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_lendbench.bench import layout, toolchain
from pytest_lendbench.rules.errors import InstrumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_APPLY_S = 600.0
_TRACK = "build"
"""The track whose writable files are the slice that the reference and the alternates implement."""


@dataclass(frozen=True)
class Variant:
    """One of them.

    Attributes:
        id: The name of its module.
        description: What it changes, in one sentence.
    """

    id: str
    description: str


def variants() -> list[Variant]:
    """All variants, in the order in which they are applied.

    Raises:
        InstrumentError: Node is missing, or one of them cannot be loaded.
    """
    return list(_all(toolchain.find_node()[0]))


def apply(tree: Path, ids: Iterable[str] | None = None, say: Callable[[str], None] = print) -> dict[str, int]:
    """Applies variants to the writable source files of a tree, in place. Other files are not touched.

    Args:
        tree: The root of an app, such as `specimen` makes.
        ids: Which; all of them by default. They are applied in the order of `variants`.
        say: Takes a sentence if the library must be installed first.

    Returns:
        For each variant, in order, how many places it has changed.

    Raises:
        InstrumentError: There is no such variant, one of them failed, or Node or its library cannot be had.
    """
    node, version = toolchain.find_node()
    known = [variant.id for variant in _all(node)]
    chosen = set(known if ids is None else ids)
    if unknown := chosen.difference(known):
        raise InstrumentError(f"There is no variant {min(unknown)!r}.", f"Choose among: {', '.join(known)}.")
    files = [path for path in layout.track(_TRACK).writable if path.endswith((".ts", ".tsx"))]
    order = {
        "tree": str(tree),
        "files": [path for path in files if (tree / path).is_file()],
        "ids": [name for name in known if name in chosen],
    }
    library = toolchain.installed("variants", layout.fixture() / "variants", version, say)
    places: dict[str, int] = _run(node, str(library), order=order)
    return places


@functools.cache
def _all(node: Path) -> tuple[Variant, ...]:
    return tuple(Variant(**told) for told in _run(node))


def _run(node: Path, *arguments: str, order: dict[str, Any] | None = None) -> Any:
    """What `apply.mjs` answers. With an order it changes files."""
    argv = [str(node), str(layout.fixture() / "variants" / "apply.mjs"), *arguments]
    try:
        done = subprocess.run(
            argv,
            input="" if order is None else json.dumps(order),
            capture_output=True,
            text=True,
            check=False,
            timeout=_APPLY_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstrumentError(f"The variants could not be run: {error}.", "Try again on a machine at rest.") from error
    if done.returncode != 0:
        raise InstrumentError(f"A variant failed:\n{done.stderr.strip()[-2000:]}\n", "Repair it in fixture/variants.")
    return json.loads(done.stdout)
