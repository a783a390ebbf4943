"""The commands around a grading: compare, verify and explain."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from gradings import PERFECT, Grader

from pytest_lendbench import cli
from pytest_lendbench.bench.check_source import sources
from pytest_lendbench.faces import explanation
from pytest_lendbench.faces.json_report import SCHEMA
from pytest_lendbench.rules.errors import UsageProblem
from pytest_lendbench.rules.worth import worth
from pytest_lendbench.suite import default_suite

if TYPE_CHECKING:
    from collections.abc import Callable

LENDBENCH = str(Path(sys.executable).with_name("lendbench"))


def lendbench(*words: str | Path, cwd: Path) -> tuple[int, str]:
    done = subprocess.run([LENDBENCH, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def graded(grader: Grader) -> Callable[..., Path]:
    """Grades a fake candidate with these files; answers with the file of the result."""
    grader.suite()

    def run(name: str, *files: str, words: tuple[str, ...] = ()) -> Path:
        grader.grade(grader.candidate(*files, name=name), "-n0", *words)
        return grader.json.rename(grader.path / f"{name}.json")

    return run


def changed(file: Path, **changes: Any) -> Path:
    """Another result, with these parts changed."""
    other = file.with_name("changed.json")
    other.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
    return other


# -- compare


def test_compare_says_what_changed(graded: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    whole, half = graded("whole", *PERFECT), graded("half", "one", "three", "four", "extra")
    capsys.readouterr()
    assert cli.main(["compare", str(whole), str(half)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("total       100.0 → ")
    assert "1 check fails now:\n  A.two\n      there is no file two\n" in shown
    assert "Contract:\n  new: added file src/extra.ts: Added." in shown
    assert cli.main(["compare", str(half), str(half)]) == 0
    assert capsys.readouterr().out == "The two gradings agree.\n"


def test_compare_says_the_same_to_a_reader_who_leaves_early(graded: Callable[..., Path]) -> None:
    half = graded("half", "one")
    for other, status in ((half, 0), (graded("whole", *PERFECT), 1)):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [LENDBENCH, "compare", half, other], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(writer)
        assert (done.returncode, done.stderr) == (status, "")


def test_compare_refuses_what_another_ruler_has_measured(
    graded: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    whole = graded("whole", *PERFECT)
    other = changed(whole, ruler={"revision": "r2", "suite": "a", "baseline": "b"})
    capsys.readouterr()
    assert cli.main(["compare", str(whole), str(other)]) == 4
    refused = capsys.readouterr()
    assert refused.out == ""
    assert refused.err.count("\n") == 1
    assert "Grade both trees with one version of the grader." in refused.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON: "),
        (b"\xff\xfe\xfd", "is not JSON: "),
        (b"[" * 500_000, "is not JSON: it is nested too deeply."),
        (b"[1]", "is JSON, but not the result of a grading."),
        (b'{"schema": "2"}', "is JSON, but not the result of a grading."),
        (b'{"schema": 999}', "by another version of the grader: its schema is 999"),
        (f'{{"schema": {SCHEMA}}}'.encode(), "is not a whole result of a grading (KeyError('status'))."),
        (f'{{"schema": {SCHEMA}, "status": NaN}}'.encode(), "is not JSON: NaN is no number."),
        (f'{{"schema": {SCHEMA}, "status": []}}'.encode(), "is not a whole result of a grading"),
    ],
)
def test_a_file_that_is_no_result_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, message: str
) -> None:
    file = tmp_path / "score.json"
    file.write_bytes(content)
    assert cli.main(["compare", str(file), str(file)]) == 4
    said = capsys.readouterr().err
    assert f"{file} {message}" in said if message.startswith("is ") else message in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "reason"), [("missing.json", "No such file"), (".", "Is a directory"), ("\0", "null")]
)
def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, reason: str
) -> None:
    assert cli.main(["compare", f"{tmp_path}/{name}", "x"]) == 4
    assert f"cannot be read: {reason}" in capsys.readouterr().err.replace("embedded ", "")


def test_a_result_with_any_part_of_another_type_is_refused_or_compared(
    graded: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    whole = graded("whole", *PERFECT)
    for part in json.loads(whole.read_text()):
        for value in (None, 7, "text", [1], [{}], {"a": 1}, {"rules": 3}):
            other = str(changed(whole, **{part: value}))
            assert cli.main(["compare", str(whole), other]) in {0, 1, 4}
            assert cli.main(["compare", other, other]) in {0, 4}
    assert "Traceback" not in capsys.readouterr().err


# -- verify


def verify(grader: Grader, result: Path, tree: Path, *words: str) -> tuple[int, str]:
    return lendbench("verify", result, "--candidate", tree, "-p", "lendbench_fake", "-n0", *words, cwd=grader.path)


def test_a_result_that_holds_is_verified(grader: Grader, graded: Callable[..., Path]) -> None:
    result = graded("half", "one", "extra")
    status, output = verify(grader, result, grader.path / "half")
    assert (status, output.splitlines()[-2:]) == (0, ["The two gradings agree.", f"{result} holds."])
    assert result.exists()
    assert grader.left_behind() == []


def test_a_result_that_does_not_hold_is_said_so(grader: Grader, graded: Callable[..., Path]) -> None:
    result = graded("half", "one")
    (grader.path / "half" / "two").write_text("")
    status, output = verify(grader, result, grader.path / "half")
    assert status == 1, output
    assert f"{result} does not hold." in output
    assert "1 check passes now:\n  A.two\n" in output


def test_a_partial_result_is_verified_by_its_own_checks(grader: Grader, graded: Callable[..., Path]) -> None:
    result = graded("half", "one", words=("-k", "A.one"))
    status, output = verify(grader, result, grader.path / "half")
    assert status == 0, output
    assert "ran in one of the gradings only" not in " ".join(output.split())


def test_verify_refuses_another_tree_before_any_work(grader: Grader, graded: Callable[..., Path]) -> None:
    result = graded("half", "one")
    page = grader.path / "half" / "src" / "items" / "status.ts"
    page.parent.mkdir(parents=True)
    page.write_text("export {};")
    status, output = verify(grader, result, grader.path / "half")
    assert status == 4
    assert "is not the tree that" in output
    assert "\n  src/items/status.ts\n" in output
    assert "Grading" not in output


def test_verify_refuses_another_ruler_and_invalid_results(grader: Grader, graded: Callable[..., Path]) -> None:
    result = graded("half", "one")
    tree = grader.path / "half"
    status, output = verify(grader, changed(result, ruler={"revision": "r0"}), tree)
    assert (status, "the baseline of the quality is not the same, none and " in output) == (4, True)
    status, output = verify(grader, graded("bad", "refused"), grader.path / "bad")
    assert (status, "there is nothing to verify" in output) == (4, True)
    status, output = verify(grader, result, grader.path / "nowhere")
    assert (status, "There is no directory" in output) == (4, True)


def test_another_ruler_needs_no_grading_to_be_refused(grader: Grader, graded: Callable[..., Path]) -> None:
    result = graded("half", "one")
    status, output = lendbench("verify", result, "--candidate", grader.path / "half", cwd=grader.path)
    assert status == 4
    assert f"{result} and this grader cannot be compared: the state of the checks and the grader" in output
    assert "Grading" not in output


def test_a_new_grading_that_is_invalid_verifies_nothing(grader: Grader, graded: Callable[..., Path]) -> None:
    result = graded("half", "one")
    (grader.path / "half" / "no-disk").write_text("")
    status, output = verify(grader, result, grader.path / "half")
    assert status == 10
    assert "The new grading is invalid: The disk is full. Free some space." in output


def test_a_grading_that_never_was_verifies_nothing(grader: Grader, graded: Callable[..., Path]) -> None:
    result = graded("half", "one")
    assert verify(grader, result, grader.path / "half", "--min-score=101")[0] == 4
    (grader.path / "half" / "interrupt").write_text("")
    assert verify(grader, result, grader.path / "half")[0] == 2


# -- explain


def explained(name: str) -> str:
    return "\n".join(explanation.explain(name, default_suite(), None, 79))


def test_explain_says_all_there_is_to_know() -> None:
    shown = explained("c.Parallel-Reads")
    assert shown.startswith("C.parallel-reads  no read of the catalogue waits for another\n")
    assert re.search(r"worth    0\.\d\d of 100 points, where all else passes", shown)
    assert "  C.11  None of the catalogue's reads waits for another." in shown
    assert re.search(r"What it does: .*test_c_catalogue\.py:\d+\n", shown)
    assert "store.settle()" in shown
    assert "  sequential-reads\n      A second read was added later" in shown
    assert "--result=score.json" in shown


def test_the_source_of_every_check_is_found() -> None:
    suite = default_suite()
    assert sources(suite.paths).keys() == {spec.id for spec in suite.read_catalog()}
    for name in ("A.labels", "P.action-race", "ADV.useOptimistic"):
        assert explained(name)


def test_the_docstring_stands_for_the_source(tmp_path: Path) -> None:
    marks = '@pytest.mark.domain(name="A")\n@pytest.mark.check(id="A.one", tier=0)\n'
    (tmp_path / "test_x.py").write_text(f'{marks}def test_one():\n    """What\n    it says."""\n')
    (found,) = sources([tmp_path]).items()
    assert found[0] == "A.one"
    assert (found[1].line, found[1].docstring) == (1, "What\nit says.")


def test_its_verdict_in_a_result(graded: Callable[..., Path], grader: Grader) -> None:
    result = graded("half", "one")
    status, output = lendbench("explain", "C.parallel-reads", "--result", result, cwd=grader.path)
    assert (status, "knows no such check" in output) == (0, True)
    report = json.loads(result.read_text())
    report["checks"][0] |= {"id": "C.parallel-reads", "verdict": "failed", "message": "It waits."}
    result.write_text(json.dumps(report))
    status, output = lendbench("explain", "C.parallel-reads", "--result", result, cwd=grader.path)
    assert (status, output.endswith(f"In {result}: failed\n  It waits.\n")) == (0, True)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("C.paralel-reads", "Did you mean C.parallel-reads"),
        ("parallel-reads", "C.parallel-reads"),
        ("zzz", "`lendbench checks` lists them all."),
    ],
)
def test_an_unknown_check_is_refused_with_the_closest_ones(name: str, message: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        explained(name)
    assert message in str(refused.value)


def test_a_check_is_worth_what_is_lost_with_it() -> None:
    catalog = default_suite().read_catalog()
    for name, scored in (("A.labels", True), ("C.parallel-reads", True), ("ADV.useOptimistic", False)):
        assert (worth(catalog, name) > 0) == scored
    assert worth(catalog, "A.labels") < worth(catalog, "C.parallel-reads") < 1
    with pytest.raises(KeyError):
        worth(catalog, "A.nowhere")


def test_explain_and_compare_do_not_wait_for_pytest() -> None:
    program = (
        "import sys; from pytest_lendbench.cli import main\n"
        "main(['explain', 'C.parallel-reads']); main(['compare', 'x', 'y'])\nprint('pytest' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
