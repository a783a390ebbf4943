"""Step 7: what the compiler and the analyzer say of a candidate's sources. Nothing of the candidate runs."""

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_lendbench.bench import assembly, baseline, layout, toolchain
from pytest_lendbench.bench.process import run_bounded
from pytest_lendbench.rules.contract import Finding
from pytest_lendbench.rules.errors import InstrumentError
from pytest_lendbench.rules.quality import Diagnostic, Quality, above

STEP_S = 1200.0
"""How long the compiler, and how long the analyzer, may take: hundreds of times what they need. They run beside the
checks, and at 5 % of a processor 300 s were too few."""
_MAX_OUTPUT = 20_000_000
_SOURCES = frozenset({".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"})
_SHOWN = 2000
_SOURCE_SHOWN = 200

_PADDING = 150
"""Empty lines before each file: the analyzer passes over code that looks minified, by the mean length of its lines in
the first 64 KB. Few long lines are no reason to pass over a candidate's file."""

_PROVEN_OTHERWISE = frozenset(
    {
        # Whether an action asks who is signed in: F.auth-checkout and F.auth-return try it. The rule wants it in the
        # action's own body.
        "react-doctor/server-auth-actions",
        # Whether a promise of Next is used as what it promises: the type check refuses that. The rule refuses `then`.
        "react-doctor/nextjs-async-dynamic-api-not-awaited",
        # Whether a form looks at the status of what it fetched: the checks on refusals (E) and on failing writes (H)
        # try it. The rule does not see a `return` under `response.ok`.
        "react-doctor/no-fetch-response-used-without-status-check",
    }
)
"""Rules that guess from the text what the gate or a check knows."""

_QUIET = ("--no-score", "--no-supply-chain", "--blocking", "none", "--yes")
"""Nothing is asked of the network, and no finding is a failure."""


@dataclass(frozen=True)
class Analysis:
    """What was found.

    Attributes:
        exports: Writable files whose exports differ from the app's, each difference with its path.
        quality: The diagnostics above the baseline; `None` if only the exports were asked for.
    """

    exports: tuple[Finding, ...]
    quality: Quality | None


@dataclass(frozen=True)
class Sources:
    """The sources of a candidate, in a place of their own.

    Attributes:
        tree: The pristine app with the candidate's `readable` files and the shared packages; never built.
        writable: The files that the track lets a candidate change.
        node: The Node program.
        tools: The grader's own packages.
        scratch: An existing directory for temporary files, which no program of the candidate's can write to.
    """

    tree: Path
    writable: Sequence[str]
    node: Path
    tools: Path
    scratch: Path


def readable(writable: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a candidate as compilers read them, so that the analyzer looks at each: text, and padded."""
    padding = "\n" * _PADDING
    return {
        name: (padding * name.endswith((".ts", ".tsx")) + content.decode("utf-8-sig", "replace")).encode()
        for name, content in writable.items()
    }


def analyse(sources: Sources, *, quality: bool) -> Analysis:
    """Compares the exports, and on demand counts what is above the baseline.

    Raises:
        InstrumentError: One of the programs failed, or the baseline is not that of this grader.
    """
    known = baseline.read() if quality else None
    exports, signals = compiled(sources)
    if known is None:
        return Analysis(exports, None)
    return Analysis(exports, above([*signals, *diagnosed(sources)], known))


def compiled(sources: Sources) -> tuple[tuple[Finding, ...], list[Diagnostic]]:
    """The exports that differ, and the source signals. Errors as for `analyse`."""
    out = sources.scratch / "compiler.json"
    deep, script, app = layout.NODE_SOURCES / "deep.mjs", layout.NODE_SOURCES / "compiler.mjs", layout.fixture() / "app"
    _run(sources, "The compiler", deep, script, sources.tree, app, sources.tools, out, *sources.writable)
    said = json.loads(out.read_text("utf-8"))
    signals = [
        Diagnostic(f"signal/{one['rule']}", "Maintainability", "warning", one["file"], one["line"], one["message"])
        for one in said["signals"]
    ]
    return tuple((path, why) for path, why in said["exports"]), list(_with_sources(sources, signals))


def diagnosed(sources: Sources) -> list[Diagnostic]:
    """What the analyzer finds. Errors as for `analyse`."""
    out = sources.scratch / "analyzer.json"
    program = sources.tools / "react-doctor" / "bin" / "react-doctor.js"
    # Comments of the candidate silence nothing. Code that is dead can't be taken away: files and exports are fixed.
    words: list[str | Path] = [
        "--json-compact",
        "--json-out",
        out,
        *_QUIET,
        "--no-respect-inline-disables",
        "--no-dead-code",
    ]
    _run(sources, "The analyzer", program, sources.tree, "--json", *words)
    said: dict[str, Any] = json.loads(out.read_text("utf-8"))
    if not said.get("ok"):
        raise InstrumentError(f"The analyzer failed: {said.get('error')}.", "Grade again; report it if it fails again.")
    looked_at = {name for project in said["projects"] for name in project["analyzedFiles"]}
    there = set(_source_files(sources.tree))
    if skipped := [check for project in said["projects"] for check in project["skippedChecks"]]:
        raise InstrumentError(f"The analyzer left out {', '.join(map(str, skipped))}.", "Grade again; report it.")
    if looked_at != there:
        odd = ", ".join(sorted(looked_at ^ there)[:5])
        raise InstrumentError(
            f"The analyzer looked at {len(looked_at)} of {len(there)} files; among the others are {odd}.",
            "Look into those files for what keeps an analyzer off, then report it.",
        )
    found = (
        Diagnostic(
            f"{one['plugin']}/{one['rule']}",
            one["category"],
            one["severity"],
            one["filePath"],
            one.get("line") or 0,
            one["message"],
        )
        for one in said["diagnostics"]
        if f"{one['plugin']}/{one['rule']}" not in _PROVEN_OTHERWISE
    )
    return list(_with_sources(sources, found))


def _run(sources: Sources, what: str, *argv: str | Path) -> None:
    caches = {"NODE_DISABLE_COMPILE_CACHE": "1", "REACT_DOCTOR_CACHE_DIR": str(sources.scratch)}
    env = {**toolchain.environment(sources.node, sources.scratch), **caches}
    # The analyzer takes comments that would silence it out of the files.
    done = run_bounded(
        [sources.node, *argv], sources.tree, env, STEP_S, _MAX_OUTPUT, writable=[sources.scratch, sources.tree]
    )
    if done.returncode != 0:
        said = done.fault or f"It ended with status {done.returncode}."
        raise InstrumentError(
            f"{what} failed. {said} {done.output.strip()[-_SHOWN:]}", "Grade again; report it if it fails again."
        )


def _source_files(tree: Path) -> Iterator[str]:
    """The files that an analyzer has to look at, relative to the tree."""
    for path in tree.rglob("*"):
        name = path.relative_to(tree)
        if path.suffix in _SOURCES and path.is_file() and name.parts[0] != "node_modules":
            yield name.as_posix()


def _with_sources(sources: Sources, diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The diagnostics by the lines of the candidate's own files, each with the line that it is about."""
    for one in diagnostics:
        lines = (sources.tree / one.file).read_text("utf-8", "replace").split("\n") if one.line else []
        text = lines[one.line - 1].strip() if 0 < one.line <= len(lines) else ""
        padded = one.file in sources.writable and one.line > 0
        line = max(1, one.line - _PADDING) if padded else one.line
        yield replace(one, line=line, source=text[:_SOURCE_SHOWN])


def write_baseline(say: Callable[[str], None]) -> None:
    """Finds what there is to find in the reference, and writes the baseline anew. Errors as for `analyse`."""
    tools = toolchain.provide(say)
    writable = {
        path.relative_to(layout.fixture() / "reference").as_posix(): path.read_bytes()
        for path in (layout.fixture() / "reference").rglob("*")
        if path.is_file()
    }
    with tempfile.TemporaryDirectory(prefix="lendbench-baseline-") as folder:
        tree, scratch = Path(folder, "tree"), Path(folder, "tmp")
        scratch.mkdir()
        assembly.lay_out(tree, readable(writable), tools.node_modules)
        sources = Sources(tree, sorted(writable), tools.node, tools.tools, scratch)
        baseline.write([*compiled(sources)[1], *diagnosed(sources)])
