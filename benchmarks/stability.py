"""Grades the reference and the alternates again and again, half of the times beside two busy loops, and counts flips.

    python benchmarks/stability.py [ROUNDS]

A round is two gradings of each tree. A flip is a verdict that is not the check's most frequent one on that tree. What
earlier runs have found with the same grader and trees, kept in `.matrix`, counts too. Writes `docs/stability.md`; ends
with 1 if anything flipped.
"""

import itertools
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_lendbench.bench import layout
from pytest_lendbench.bench.ruler import digest, judging
from pytest_lendbench.bench.specimen import specimen

_BUSY = 2


@contextmanager
def busy(loops: int) -> Iterator[None]:
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def grade(overlay: str) -> dict[str, str]:
    """The verdict of each check, and under `status` and `total` those of the grading."""
    with specimen(overlay) as tree, tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "score.json")
        words = ["grade", str(tree), f"--score-json={result}", f"--evidence={folder}/evidence"]
        subprocess.run([sys.executable, "-m", "pytest_lendbench.cli", *words], capture_output=True, check=False)
        score = json.loads(result.read_text("utf-8"))
    verdicts = {check["id"]: check["verdict"] for check in score["checks"]}
    return {**verdicts, "status": score["status"], "total": str(score["total"])}


def measured(trees: list[str]) -> str:
    """A digest of all that a verdict on these trees depends on."""
    root = layout.suite_root()
    files = (path for tree in trees for path in sorted((layout.fixture() / tree).rglob("*")) if path.is_file())
    return digest([*judging([root / "checks", root / "probes", root / "conftest.py"]), *files])


def commit() -> str:
    """Which version of this project grades."""
    words = ["git", "-C", str(layout.suite_root()), "describe", "--always", "--dirty", "--exclude", "*"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def page(version: str, gradings: list[tuple[str, dict[str, str]]]) -> tuple[str, int]:
    """The page, and how many verdicts differed."""
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for graded, found_there in gradings:
        for check, verdict in found_there.items():
            seen[graded, check][verdict] += 1
    flips: Counter[str] = Counter()
    for (_, check), verdicts in seen.items():
        flips[check] += verdicts.total() - max(verdicts.values())
    totals = ((tree, found) for (tree, check), found in seen.items() if check == "total")
    lines = [
        "# Stability",
        "",
        f"Made by `benchmarks/stability.py` at commit {version}: {len(gradings)} gradings of the reference and the",
        f"alternates, half of them beside {_BUSY} busy loops on a two-core machine. Verdicts that differed from the",
        f"others of the same check on the same tree: {flips.total()}.",
        "",
        "| tree | gradings | totals |",
        "| --- | --- | --- |",
        *(f"| {tree} | {found.total()} | {', '.join(sorted(found))} |" for tree, found in totals),
        "",
        "| check | verdicts | flips |",
        "| --- | --- | --- |",
        *(f"| {check} | {len(gradings)} | {count} |" for check, count in sorted(flips.items())),
        "",
    ]
    return "\n".join(lines), flips.total()


def main(rounds: int) -> int:
    alternates = sorted(path.name for path in (layout.fixture() / "alternates").iterdir())
    trees = ["reference", *(f"alternates/{name}" for name in alternates)]
    kept = layout.suite_root() / ".matrix" / "stability" / f"{measured(trees)}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    all_found: list[tuple[str, dict[str, str]]] = json.loads(kept.read_text("utf-8")) if kept.exists() else []
    version = commit()  # before the page is written: that makes the tree dirty
    flips = 0
    for turn in range(rounds):
        for tree, loops in itertools.product(trees, (0, _BUSY)):
            with busy(loops):
                found = grade(tree)
            print(f"round {turn + 1}/{rounds}, {tree}, {loops} loops: {found['status']} {found['total']}", flush=True)
            all_found.append((tree, found))
            kept.write_text(json.dumps(all_found), "utf-8")
            text, flips = page(version, all_found)
            (layout.suite_root() / "docs" / "stability.md").write_text(text, "utf-8")
    return 1 if flips else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
