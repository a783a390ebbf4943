"""Steps 1 to 4 of one grading: read the candidate, compare it with the contract, make the clean tree, pass the gate."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from pytest_lendbench.bench import assembly, builds, confine, layout, machine, toolchain
from pytest_lendbench.bench.analysis import Sources, readable
from pytest_lendbench.bench.browser import find_browser
from pytest_lendbench.bench.gate import GateResult, run_gate
from pytest_lendbench.bench.reading import printable, read_tree
from pytest_lendbench.bench.ruler import refuse_other_revision
from pytest_lendbench.bench.server import DESK_NOW
from pytest_lendbench.rules.closeout import METADATA, PLAN, Closeout, judge
from pytest_lendbench.rules.contract import ContractFindings, compare, is_free
from pytest_lendbench.rules.errors import CandidateRefused, InstrumentError, UsageProblem

_PACKAGE_JSON = "package.json"
_TOOLS = ("axe-core", "react-doctor", "typescript")
_ALIKE = 0.5
"""The share of the app's files that a tree must have to pass for a candidate."""


@dataclass(frozen=True)
class Prepared:
    """A candidate that was read, compared, assembled and taken through the gate.

    Attributes:
        candidate: Where it was read from.
        track: The name of the track.
        run_dir: The temporary directory of this grading. Whoever called `prepare` removes it at the end.
        tree: The clean tree; built if the gate passed.
        node: The Node program.
        node_modules: The app's shared packages.
        tools: The grader's own packages, such as esbuild and axe-core.
        browser: The browser's program; `None`: Playwright's own.
        contract: What breaks the contract.
        gate: What the gate says.
        closeout: How the plan was ended; `None` if the track has none.
        sources: What the analysis reads; `None` if there is nothing to analyse.
        timings: Seconds by phase.
        provenance: What exactly was graded, with what: digests and versions.
    """

    candidate: str
    track: str
    run_dir: str
    tree: str
    node: str
    node_modules: str
    tools: str
    browser: str | None
    contract: ContractFindings
    gate: GateResult
    timings: Mapping[str, float]
    provenance: Mapping[str, Any]
    closeout: Closeout | None = None
    sources: Sources | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; `from_json` reads it. The sources stay behind: only the controller analyses them."""
        data = {**asdict(replace(self, sources=None)), "gate": self.gate.to_json()}
        return {**data, "contract": self.contract.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The preparation that `to_json` wrote."""
        contract = ContractFindings.from_json(data["contract"])
        closeout = data["closeout"] and Closeout.from_json(data["closeout"])
        gate = GateResult.from_json(data["gate"])
        return cls(**{**data, "contract": contract, "gate": gate, "closeout": closeout})

    def run_copy(self, name: str) -> Path:
        """A copy of the built tree under `run_dir`, for one server of its own."""
        return assembly.run_copy(Path(self.tree), Path(self.run_dir, name))


def prepare(path: Path, track: str, say: Callable[[str], None], *, reuse: bool = False) -> Prepared:
    """Takes a candidate as far as a built tree. Nothing of it is run before the gate.

    Args:
        path: The candidate: the root of its app.
        track: The track's name.
        say: Takes sentences about progress.
        reuse: Whether the build of an earlier grading of the same files may be taken, and this one be kept.

    Raises:
        UsageProblem: There is no such track, or `path` is not a tree of this app.
        CandidateRefused: The tree may not be graded.
        InstrumentError: The grader or the machine failed.
    """
    timings: dict[str, float] = {}
    task = layout.track(track)
    with _timed("read", timings):
        app = _fixture_files()
        root = _candidate_root(path, app)
        found = read_tree(root, keep=[*task.writable, _PACKAGE_JSON])
        refuse_other_revision(found.kept.get(_PACKAGE_JSON))
        kept = {name: content for name, content in found.kept.items() if name in task.writable}
    with _timed("contract", timings):
        files = {printable(name): digest for name, digest in found.files.items()}
        contract = compare(files, app, task.writable, kept)
    with _timed("toolchain", timings):
        tools = toolchain.provide(say)
        browser = find_browser()
    run_dir = _fresh_directory()
    try:
        tree, scratch = run_dir / "tree", run_dir / "tmp"
        scratch.mkdir()
        (run_dir / "analysis").mkdir()
        with _timed("assembly", timings):
            assembly.assemble(tree, kept, tools.node_modules)
            assembly.lay_out(run_dir / "sources", readable(kept), tools.node_modules)
        with _timed("gate", timings):
            result = None
            earlier = builds.Kept(tree, tools.key) if reuse else None
            if earlier is None or not earlier.restore():
                say("Checking the types, then building …")
                result = run_gate(tree, tools, scratch, say)
                if earlier is not None and result.passed:
                    earlier.keep(say)
            gate = GateResult(True, None, "", 0.0) if result is None else _explained(result, contract)
        closeout = None
        if PLAN in task.writable:
            plan = {name: (layout.fixture() / "app" / name).read_bytes() for name in (PLAN, METADATA)}
            # A plan that was deleted is one that was left untouched.
            closeout = judge({**plan, **kept}, plan, datetime.fromisoformat(DESK_NOW), gate.step)
        return Prepared(
            candidate=str(root),
            track=task.name,
            run_dir=str(run_dir),
            tree=str(tree),
            node=str(tools.node),
            node_modules=str(tools.node_modules),
            tools=str(tools.tools),
            browser=None if browser.executable is None else str(browser.executable),
            contract=contract,
            gate=gate,
            timings=timings,
            closeout=closeout,
            sources=Sources(run_dir / "sources", task.writable, tools.node, tools.tools, run_dir / "analysis"),
            provenance={
                "candidate": {name: toolchain.digest(kept[name]) for name in sorted(kept)},
                "unwalked": list(found.unwalked),
                "app_sha256": toolchain.digest(*(f"{name}\0{app[name]}".encode() for name in sorted(app))),
                "locks": {"app": tools.key, "tools": tools.tools.parent.name},
                "confined": confine.version() > 0,
                "reused_build": result is None,
                "versions": {
                    "node": tools.node_version,
                    "next": tools.version("next"),
                    "browser": browser.version,
                    **{name: toolchain.package_version(tools.tools, name) for name in _TOOLS},
                    **machine.versions(),
                },
            },
        )
    except BaseException:
        shutil.rmtree(run_dir, ignore_errors=True)
        raise


def _candidate_root(path: Path, app: Collection[str]) -> Path:
    if not path.exists():
        raise UsageProblem(f"There is no {path}.")
    if not path.is_dir():
        raise UsageProblem(f"{path} is a file. Name the directory of the app.")
    root = path.resolve()
    there = sum(_there(root / name) for name in app)
    if there >= _ALIKE * len(app):
        return root
    nothing = "is empty" if not any(root.iterdir()) else "is not a tree of the Lending Desk app"
    raise UsageProblem(
        f"{path} {nothing}: of the app's {len(app)} files it has {there}. "
        "Name the directory that holds the app's package.json."
    )


def _there(path: Path) -> bool:
    try:
        path.lstat()
    except PermissionError as error:
        raise CandidateRefused(f"{path.parent} cannot be read: {error.strerror}.", "Make it readable.") from error
    except OSError:
        return False
    return True


def _explained(gate: GateResult, contract: ContractFindings) -> GateResult:
    """The gate's result; where it failed, the imports of files that were left out are named first."""
    if gate.passed or not contract.left_out_imports:
        return gate
    reasons = [f"{path}: {why}" for path, why in contract.left_out_imports]
    return replace(gate, output="\n".join([*reasons, "", gate.output]))


def _fixture_files() -> dict[str, str]:
    """The app's own files and their digests."""
    found = read_tree(layout.fixture() / "app").files
    return {path: digest for name, digest in found.items() if not is_free(path := os.fsdecode(name))}


def _fresh_directory() -> Path:
    """A directory for this grading. A build inside a repository that ignores it leaves things out."""
    try:
        made = Path(tempfile.mkdtemp(prefix="lendbench-")).resolve()
    except OSError as error:
        raise InstrumentError(
            f"There is no temporary directory: {error}.", "Free some space, or set TMPDIR."
        ) from error
    repository = next((folder for folder in made.parents if (folder / ".git").exists()), None)
    if repository is not None:
        made.rmdir()
        raise InstrumentError(
            f"The temporary directory lies inside the repository {repository}.", "Set TMPDIR to a place outside of it."
        )
    return made


@contextmanager
def _timed(phase: str, timings: dict[str, float]) -> Iterator[None]:
    started = time.monotonic()
    try:
        yield
    finally:
        timings[phase] = time.monotonic() - started
