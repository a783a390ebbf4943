"""The grader graded: the reference is perfect, the stubs are worth next to nothing, a defect loses what it should."""

import json
import subprocess
import sys

import pytest

from pytest_lendbench.bench.specimen import defects, specimen

EXACT = (
    "no-auth-check",
    "sequential-reads",
    "checkout-race",
    "no-label",
    "stale-back",
    "two-step-return",
    "type-error",
    "build-error",
)
"""The defects whose `caught_by` names every check that fails. Of the others, it names those that must."""


def grade(tree, tmp_path):
    """Grades a tree as a user does. Returns the exit status and the JSON."""
    result = tmp_path / "score.json"
    command = [sys.executable, "-m", "pytest_lendbench.cli", "grade", str(tree), f"--score-json={result}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.exists(), done.stdout + done.stderr
    return done.returncode, json.loads(result.read_text())


def failed(score):
    return {check["id"] for check in score["checks"] if check["verdict"] == "failed" and check["tier"] is not None}


def test_the_reference_is_perfect(tmp_path):
    with specimen("reference") as tree:
        status, score = grade(tree, tmp_path)
    assert score["status"] == "scored", score["invalid"]
    assert failed(score) == set()
    assert (status, score["total"]) == (0, 100.0)
    assert (score["quality"]["penalty"], score["closeout"]["share"], score["total_exact"]) == (0, 1, 100)


def test_the_untouched_app_is_worth_next_to_nothing(tmp_path):
    with specimen() as tree:
        status, score = grade(tree, tmp_path)
    assert score["status"] == "scored", score["invalid"]
    assert status == 1
    assert score["total"] <= 8
    assert score["closeout"]["share"] == 0
    assert score["axes"]["completion"]["rate"] < 0.02
    passed = {check["id"] for check in score["checks"] if check["verdict"] == "passed"}
    assert not {check for check in passed if check.startswith("P.")}


@pytest.mark.parametrize("name", EXACT)
def test_a_defect_loses_exactly_what_it_should(name, tmp_path):
    defect = next(one for one in defects() if one.id == name)
    with specimen("reference", defect) as tree:
        status, score = grade(tree, tmp_path)
    assert score["status"] == "scored", score["invalid"]
    assert status == 1
    if defect.stopped_by is None:
        assert failed(score) == defect.caught_by
    else:
        assert (score["gate"]["step"], score["total"]) == (defect.stopped_by, 0)
