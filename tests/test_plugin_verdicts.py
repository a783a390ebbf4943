"""Whose fault it is: what becomes of each kind of exception, wherever it is raised."""

from __future__ import annotations

import pytest
from gradings import Grader, one_check

FIXTURE = "@pytest.fixture\ndef broken(tree):\n    {before}\n    yield\n    {after}\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("assert False, 'the words'", "the words"),
        ("assert 1 == 2", "assert 1 == 2"),
        ("pytest.fail('the words')", "the words"),
        ("raise CandidateFault('The server exited.')", "The server exited."),
        ("raise ExceptionGroup('two', [AssertionError('a'), CandidateFault('b')])", "two"),
        ("assert not '\\x1b[31mred\\ud800'.strip(), '\\x1b[31mred \\ud800 \\x00'", "red \ufffd \ufffd"),
    ],
)
@pytest.mark.parametrize("way", [["-n0"], ["-n2"]], ids=" ".join)
def test_the_candidates_fault_is_a_failed_check(grader: Grader, way: list[str], body: str, message: str) -> None:
    grader.suite(one_check(body))
    graded = grader.grade(grader.candidate(), *way)
    assert (graded.status, graded.json["status"]) == (1, "scored")
    assert graded.verdicts == {"A.one": "failed"}
    assert graded.check("A.one")["message"].startswith(message)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise InstrumentError('No browser.', 'Install one.')", "No browser. Install one."),
        ("raise RuntimeError('a bug')", "RuntimeError in the call of the check: a bug"),
        ("raise TimeoutError('slow')", "TimeoutError in the call of the check: slow"),
        ("raise ExceptionGroup('two', [AssertionError('a'), ValueError('b')])", "ExceptionGroup in the call"),
        ("pytest.skip('no time')", "A check must have a verdict."),
        ("pytest.xfail('known')", "A check must have a verdict."),
    ],
)
@pytest.mark.parametrize("way", [["-n0"], ["-n2"]], ids=" ".join)
def test_everything_else_is_the_instruments(grader: Grader, way: list[str], body: str, message: str) -> None:
    grader.suite(one_check(body))
    graded = grader.grade(grader.candidate(), *way)
    assert (graded.status, graded.json["status"], graded.json["total"]) == (10, "invalid", None)
    assert graded.verdicts == {"A.one": "errored"}
    assert message in graded.check("A.one")["message"]
    assert "A.one could not be run to its end" in graded.json["invalid"]["what"]


@pytest.mark.parametrize("phase", ["before", "after"])
@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("assert False", "errored"),
        ("raise OSError('no port')", "errored"),
        ("raise CandidateFault('It does not start.')", "failed"),
    ],
)
def test_a_fixture_fails_a_check_only_with_proof(grader: Grader, phase: str, statement: str, verdict: str) -> None:
    fixture = FIXTURE.format(**{"before": "pass", "after": "pass", phase: statement})
    grader.suite(one_check("pass", arguments="broken", markers=fixture))
    assert grader.grade(grader.candidate(), "-n0").verdicts == {"A.one": verdict}


def test_an_assertion_of_a_plugin_is_not_the_candidates(grader: Grader) -> None:
    plugin = "import pytest\n@pytest.hookimpl\ndef pytest_pyfunc_call(): assert False, 'a bug of a plugin'\n"
    grader.suite(one_check("pass"), conftest=plugin)
    assert grader.grade(grader.candidate(), "-n0").verdicts == {"A.one": "errored"}


@pytest.mark.parametrize("way", [["-n0"], ["-n2"]], ids=" ".join)
def test_all_cases_of_one_check_are_one_verdict(grader: Grader, way: list[str]) -> None:
    cases = "@pytest.mark.parametrize('number', [1, 2, 3])"
    grader.suite(one_check("assert number != 2, f'it was {number}'", arguments="number", markers=cases))
    graded = grader.grade(grader.candidate(), *way)
    assert graded.verdicts == {"A.one": "failed"}
    assert graded.check("A.one")["message"].startswith("it was 2")
    assert graded.json["tiers"][0]["checks"] == 1


@pytest.mark.parametrize("way", [["-n0"], ["-n2"]], ids=" ".join)
def test_a_failed_subtest_fails_its_check(grader: Grader, way: list[str]) -> None:
    body = "for number in (1, 2, 3):\n    with subtests.test(number=number):\n        assert number != 2, 'it was two'"
    grader.suite(one_check(body, arguments="subtests"))
    graded = grader.grade(grader.candidate(), *way)
    assert graded.verdicts == {"A.one": "failed"}
    assert graded.check("A.one")["message"].startswith("it was two")


@pytest.mark.parametrize("way", [["-n0"], ["-n2"]], ids=" ".join)
def test_what_a_check_prints_and_sees_is_in_its_evidence(grader: Grader, way: list[str]) -> None:
    body = "print('printed \\ud800')\nrecord_property('evidence', 'seen \\x1b[0m')\nassert False, 'no'"
    grader.suite(one_check(body, arguments="record_property"))
    graded = grader.grade(grader.candidate(), *way)
    written = (grader.path / "lendbench-evidence" / "A.one.txt").read_text()
    assert graded.check("A.one")["evidence"] == ["seen "]
    assert "The tree has a file `one`." in written
    assert "seen" in written
    assert "printed" in written
