"""The gate: the types are checked, then the tree is built. What does not pass it is not run."""

import re
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self

from pytest_lendbench.bench import assembly, cache, toolchain
from pytest_lendbench.bench.process import Finished, run_bounded
from pytest_lendbench.bench.toolchain import Toolchain
from pytest_lendbench.rules.errors import InstrumentError

Step = Literal["typecheck", "build"]

STEP_S = 300.0
"""How long the type check, and how long the build, may take: thirty times what they need."""
MAX_OUTPUT = 10_000_000
_SHOWN = 8000
_FREE_BYTES = 100_000_000
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_NEXT = Path("node_modules/next/dist/bin/next")
_TSC = Path("node_modules/typescript/bin/tsc")


@dataclass(frozen=True)
class GateResult:
    """What the gate says.

    Attributes:
        passed: Whether the tree may be run.
        step: Where it was stopped; `None` if it passed.
        output: The compiler's own words, paths relative to the tree; empty if it passed.
        duration: Seconds.
    """

    passed: bool
    step: Step | None
    output: str
    duration: float

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; `from_json` reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The result that `to_json` wrote."""
        return cls(**data)


def run_gate(tree: Path, tools: Toolchain, scratch: Path, say: Callable[[str], None]) -> GateResult:
    """Checks and builds a clean tree, in place.

    Args:
        tree: From `assembly.assemble`.
        tools: The toolchain.
        scratch: An existing directory for temporary files.
        say: Takes sentences about progress.

    Raises:
        InstrumentError: The machine was too slow or too full to tell, or the seed could not be built.
    """
    seed = build_seed(tools, say)
    started = time.monotonic()
    failure = typecheck(tree, tools, scratch)
    step: Step = "typecheck"
    if failure is None:
        assembly.copy_writable(seed, tree / ".next" / "cache")
        step, failure = "build", build(tree, tools, scratch)
    return GateResult(failure is None, None if failure is None else step, failure or "", time.monotonic() - started)


def typecheck(tree: Path, tools: Toolchain, scratch: Path) -> str | None:
    """Checks the types; `None` if they are right, else the compiler's words."""
    failure = _step(tree, tools, scratch, _NEXT, "typegen")
    return _step(tree, tools, scratch, _TSC, "--noEmit", "--incremental", "false") if failure is None else failure


def build(tree: Path, tools: Toolchain, scratch: Path) -> str | None:
    """Makes the production build; `None` if that worked, else the words of Next."""
    failure = _step(tree, tools, scratch, _NEXT, "build")
    if failure is None and not (tree / ".next" / "BUILD_ID").is_file():
        return "The build ended without an error but left no build behind."
    return failure


def build_seed(tools: Toolchain, say: Callable[[str], None]) -> Path:
    """The build cache of the pristine app, which makes every build of a tree like it quick. Built once on a machine.

    Raises:
        InstrumentError: The pristine app does not build.
    """
    with tempfile.TemporaryDirectory(prefix="lendbench-seed-") as folder:
        tree, scratch = Path(folder, "tree"), Path(folder, "tmp")
        scratch.mkdir()
        assembly.assemble(tree, {}, tools.node_modules)

        def make(into: Path) -> None:
            say("Building the untouched app (once, about ten seconds) …")
            failure = build(tree, tools, scratch)
            if failure is not None:
                raise InstrumentError(f"The untouched app does not build:\n{failure}\n", "Repair the fixture.")
            shutil.copytree(tree / ".next" / "cache", into / "cache")

        key = toolchain.digest(tools.key.encode(), assembly.tree_digest(tree).encode())
        return cache.once(f"seed-{key[:16]}", make, say) / "cache"


def _step(tree: Path, tools: Toolchain, scratch: Path, *argv: str | Path) -> str | None:
    env = toolchain.environment(tools.node, scratch)
    made = tree / ".next"
    made.mkdir(exist_ok=True)
    done = run_bounded([tools.node, *argv], tree, env, STEP_S, MAX_OUTPUT, writable=[made, scratch])
    if done.returncode == 0:
        return None
    free = shutil.disk_usage(scratch).free
    if free < _FREE_BYTES:
        raise InstrumentError(
            f"Only {free:,} bytes are free on the disk of {scratch}.", "Free some space, then grade again."
        )
    if done.returncode == 137:
        raise InstrumentError(
            "The gate was killed from outside, most likely because the machine ran out of memory.",
            "Grade again with more memory free.",
        )
    return _words(done, tree)


def _words(done: Finished, tree: Path) -> str:
    """What the program said, for a person: no colours, no paths of this machine, not too long."""
    text = _ANSI.sub("", done.output)
    for folder in (tree, tree.resolve()):
        text = text.replace(f"{folder}/", "").replace(str(folder), ".")
    text = text.strip()
    if len(text) > _SHOWN:
        text = f"{text[: _SHOWN // 2]}\n[… {len(text) - _SHOWN} characters left out …]\n{text[-_SHOWN // 2 :]}"
    return "\n".join(part for part in (done.fault, text) if part) or f"It ended with status {done.returncode}."
