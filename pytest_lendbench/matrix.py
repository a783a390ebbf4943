"""The kill matrix is made: every tree of the fixture is graded, and what is known already is not graded again."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_lendbench.bench import layout, variants
from pytest_lendbench.bench.check_source import in_module
from pytest_lendbench.bench.ruler import digest, judging
from pytest_lendbench.bench.specimen import Defect, defects, specimen
from pytest_lendbench.faces import kill_page
from pytest_lendbench.rules.errors import InstrumentError, UsageProblem
from pytest_lendbench.rules.kills import Outcome, Tree, broken_rules
from pytest_lendbench.suite import default_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_MOST_TOUCHED = 24
"""Six minutes on two cores."""


@dataclass(frozen=True)
class _Job:
    """A tree of the matrix and how it is made."""

    tree: Tree
    overlay: str | None
    varied: bool = False
    defect: Defect | None = None


class Matrix:
    """All trees of the fixture. What was graded is kept in `store` and not graded again while nothing has changed.

    Args:
        store: A directory for results.
        full: Try every check on every defect, not only those that must catch it.
        say: Takes lines about progress.
    """

    def __init__(self, store: Path, *, full: bool, say: Callable[[str], None]) -> None:
        self._store = store
        self._full = full
        self._say = say
        self._jobs = _jobs()
        self._scored = _scored()
        root = layout.suite_root()
        self._ruler = digest(judging([root / "checks", root / "probes", root / "conftest.py"]))

    def ids(self) -> list[str]:
        """The ids of all trees."""
        return [job.tree.id for job in self._jobs]

    def sample(self, count: int) -> list[str]:
        """The ids of some defects, others with each change of the grader; and of those that the last commit touched.

        Touched is a defect that was changed itself, or that is there for a check that was; of too many, some.
        """
        touched = _touched()
        drawn = sorted(
            (job.tree for job in self._jobs if job.tree.kind == "defect"),
            key=lambda tree: digest([], self._ruler, tree.id),
        )
        first = [tree.id for tree in drawn if not touched.isdisjoint({tree.id, *tree.caught_by})][:_MOST_TOUCHED]
        others = [tree.id for tree in drawn if tree.id not in first]
        return [*first, *others[:count]]

    def run(self, ids: Sequence[str] = ()) -> dict[Tree, Outcome]:
        """Grades the trees with these ids, by default all.

        Raises:
            UsageProblem: There is no such tree.
            InstrumentError: A tree cannot be made or graded.
        """
        if unknown := set(ids) - set(self.ids()):
            correct = ", ".join(job.tree.id for job in self._jobs if job.tree.kind != "defect")
            known = f"There are {correct}, and the folders in fixture/defects."
            raise UsageProblem(f"There is no tree {', '.join(sorted(unknown))}. {known}")
        jobs = [job for job in self._jobs if not ids or job.tree.id in ids]
        numbers = itertools.count(1)

        def graded(job: _Job) -> Outcome:
            started = time.monotonic()
            outcome, fresh = self._outcome(job)
            took = f"{time.monotonic() - started:5.1f} s" if fresh else "  known"
            self._say(f"[{next(numbers):3}/{len(jobs)}] {took}  {job.tree.id}: {_in_words(outcome)}")
            return outcome

        # One grading a processor: the build of one tree fills the pauses of another.
        pool = ThreadPoolExecutor(os.cpu_count())
        try:
            return dict(zip((job.tree for job in jobs), pool.map(graded, jobs), strict=True))
        finally:
            pool.shutdown(cancel_futures=True)

    def _outcome(self, job: _Job) -> tuple[Outcome, bool]:
        with specimen(job.overlay, job.defect) as tree:
            if job.varied:
                variants.apply(tree, say=self._say)
            asked = self._asked(job.tree)
            key = digest(_files(tree), self._ruler, asked)
            kept = self._store / f"{job.tree.id}.json"
            if kept.exists() and (known := json.loads(kept.read_text("utf-8")))["key"] == key:
                return Outcome.from_json(known["outcome"]), False
            outcome = _grade(tree, asked)
        self._store.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({"key": key, "outcome": outcome.to_json()}), "utf-8")
        return outcome, True

    def _asked(self, tree: Tree) -> str:
        """Which checks a tree is graded by, for `-k`; nothing: by all, and it is analysed and scored."""
        if tree.kind != "defect":
            return ""
        return " or ".join(sorted(self._scored if self._full else tree.caught_by))


def write_page(outcomes: dict[Tree, Outcome], docs: Path, *, full: bool) -> None:
    """Writes `kill-matrix.json` and `kill-matrix.md` into a directory."""
    arises = {defect.id: defect.arises for defect in defects()}
    page = kill_page.to_markdown(outcomes, default_suite().read_catalog(), arises, full=full)
    (docs / "kill-matrix.json").write_text(kill_page.to_json(outcomes, full=full), "utf-8")
    (docs / "kill-matrix.md").write_text(page, "utf-8")


def wrong(outcomes: dict[Tree, Outcome], *, whole: bool, full: bool = False) -> list[str]:
    """As `broken_rules`, by the catalog."""
    return broken_rules(outcomes, _scored(), whole=whole, full=full)


def _scored() -> list[str]:
    return [spec.id for spec in default_suite().read_catalog() if spec.scored]


def _jobs() -> list[_Job]:
    alternates = sorted(path.name for path in (layout.fixture() / "alternates").iterdir() if path.is_dir())
    correct = {"reference": "reference", **{name: f"alternates/{name}" for name in alternates}}
    return [
        *(_Job(Tree(name, "correct"), overlay) for name, overlay in correct.items()),
        *(_Job(Tree(f"{name} with variants", "correct"), overlay, varied=True) for name, overlay in correct.items()),
        _Job(Tree("untouched app", "floor"), None),
        *(_Job(Tree(one.id, "defect", one.caught_by, one.stopped_by), "reference", defect=one) for one in defects()),
    ]


def _grade(tree: Path, only: str) -> Outcome:
    """Grades a tree as a user does."""
    with tempfile.TemporaryDirectory(prefix="lendbench-matrix-") as folder:
        result = Path(folder, "score.json")
        words = ["grade", str(tree), "-n0", f"--score-json={result}", f"--evidence={folder}/evidence"]
        command = [sys.executable, "-m", "pytest_lendbench.cli", *words, *(["-k", only] if only else [])]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if not result.exists():
            raise InstrumentError(f"A grading left no result: {done.stdout}{done.stderr}", "Read its words.")
        score = json.loads(result.read_text("utf-8"))
    scored = [check for check in score["checks"] if check["tier"] is not None]
    return Outcome(
        status=score["status"],
        total=score["total"],
        completion=score["axes"] and score["axes"]["completion"]["rate"],
        stopped_by=score["gate"] and score["gate"]["step"],
        passed=tuple(sorted(check["id"] for check in scored if check["verdict"] == "passed")),
        failed=tuple(sorted(check["id"] for check in scored if check["verdict"] == "failed")),
        trouble=score["invalid"]["what"] if score["invalid"] else "" if only else _said(scored),
    )


def _said(checks: Sequence[Mapping[str, Any]]) -> str:
    """What the failed checks of a whole grading have said: of a correct tree it must be looked into."""
    failed = [check for check in checks if check["verdict"] == "failed"]
    return "; ".join(f"{check['id']}: {check['message'].splitlines()[0]}" for check in failed[:3])


def _in_words(outcome: Outcome) -> str:
    if outcome.status == "invalid":
        return f"invalid: {outcome.trouble}"
    if outcome.stopped_by:
        return f"stopped by {outcome.stopped_by}"
    fails = ", ".join(outcome.failed)
    return f"fails {fails}" if fails else f"fails nothing, total {outcome.total}"


def _touched() -> set[str]:
    """The ids of the defects, and of the checks, that the last commit has changed."""
    root = layout.suite_root()
    # Without git, or in a clone of one commit, nothing is known to be touched.
    changed = [Path(line) for line in _git(root, "diff", "--name-only", "--relative", "HEAD~1", "HEAD").split()]
    found = {path.parent.name for path in changed if path.parts[:2] == ("fixture", "defects")}
    for path in changed:
        if path.parts[0] in {"checks", "probes"} and path.suffix == ".py" and (root / path).exists():
            old = {name: source.text for name, source in in_module(path, _git(root, "show", f"HEAD~1:./{path}"))}
            new = in_module(path, (root / path).read_text("utf-8"))
            found.update(name for name, source in new if old.get(name) != source.text)
    return found


def _git(root: Path, *words: str) -> str:
    """What git says; nothing where it fails."""
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
