"""The reference with something broken in it and an attack beside that, graded as a user grades it."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

from pytest_lendbench.bench.specimen import specimen

STATUS = "src/items/status.ts"
CHECKS = "C.heading or C.search-literal or A.labels or A.due-text"


class Graded:
    """What a grading has said, and what it has left."""

    def __init__(self, done, report, left):
        self.exit_status = done.returncode
        self.output = done.stdout + done.stderr
        self.report = report
        self.status = report["status"]
        self.left = left
        self._checks = {check["id"]: check for check in report["checks"]}

    def ids(self, verdict):
        return {name for name, check in self._checks.items() if check["verdict"] == verdict}

    def message(self, name):
        return self._checks[name]["message"]


def grade(tree, folder, checks=CHECKS):
    """Grades a tree as a user does, with a directory for temporary files that nobody else uses."""
    temporary = folder / "temporary"
    temporary.mkdir()
    result = folder / "score.json"
    command = [sys.executable, "-m", "pytest_lendbench.cli", "grade", str(tree), "-k", checks]
    before = content(tree)
    done = subprocess.run(
        [*command, f"--score-json={result}"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.exists(), done.stdout + done.stderr
    assert content(tree) == before
    return Graded(done, json.loads(result.read_text()), sorted(path.name for path in temporary.iterdir()))


def content(tree):
    return {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}


@contextmanager
def attacker(changes, top=""):
    """The reference with texts of its files replaced: `{file: {old: new}}`. `top` is put before the status rules."""
    with specimen("reference") as tree:
        for file, texts in {STATUS: {}, **changes}.items():
            source = (tree / file).read_text()
            for old, new in texts.items():
                assert source.count(old) == 1, f"{file} has no such text, or more than one: {old}"
                source = source.replace(old, new)
            (tree / file).write_text(f"// @ts-nocheck\n{top}\n{source}" if file == STATUS else source)
        yield tree
