"""What the JUnit XML says of a grading."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from gradings import PERFECT, Grader, one_check


def told(element: ET.Element) -> dict[str, str]:
    """The properties of a test suite or a test case; each stands there once."""
    (properties,) = element.findall("properties")
    names = [one.attrib["name"] for one in properties]
    assert len(names) == len(set(names))
    return {one.attrib["name"]: one.attrib["value"] for one in properties}


def suite_of(grader: Grader, *files: str, words: list[str]) -> ET.Element:
    grader.grade(grader.candidate(*files), *words, f"--junitxml={grader.path}/junit.xml")
    (suite,) = ET.parse(grader.path / "junit.xml").getroot().findall("testsuite")  # noqa: S314 (our own)
    return suite


def test_each_case_names_its_check(grader: Grader, way: list[str]) -> None:
    grader.suite()
    suite = suite_of(grader, "one", words=way)
    cases = {told(case)["id"]: told(case) for case in suite.iter("testcase")}
    assert cases["A.two"] == {
        "id": "A.two",
        "kind": "check",
        "domain": "A",
        "tier": "1",
        "weight": "0.25",
        "verdict": "failed",
    }
    assert cases["ADV.four"].keys() == {"id", "kind", "domain", "weight", "verdict"}
    assert {name: case["verdict"] for name, case in cases.items()} == {
        "A.one": "passed",
        "A.two": "failed",
        "P.three": "failed",
        "ADV.four": "failed",
    }
    assert told(suite) == {"status": "scored", "track": "build", "total": "67.9"}
    assert suite.attrib["failures"] == "3"


@pytest.mark.parametrize("way", [["-n0"], ["-n2"]], ids=" ".join)
def test_nothing_of_how_a_verdict_travels_is_left(grader: Grader, way: list[str]) -> None:
    body = "record_property('mine', 'kept')\nrecord_property('evidence', 'seen')\nassert False, 'no'"
    late = "@pytest.fixture\ndef late(tree):\n    yield\n    raise OSError('no port')\n"
    grader.suite(one_check(body, arguments="record_property, late", markers=late))
    suite = suite_of(grader, words=way)
    cases = [told(case) for case in suite.iter("testcase")]
    assert [(case["verdict"], case["mine"]) for case in cases] == [("failed", "kept"), ("errored", "kept")]
    assert "{" not in (grader.path / "junit.xml").read_text("utf-8")
    assert told(suite)["status"] == "invalid"
    assert "total" not in told(suite)


def test_what_stops_before_the_checks_is_said_too(grader: Grader, way: list[str]) -> None:
    grader.suite()
    suite = suite_of(grader, *PERFECT, "type-error", words=way)
    assert (told(suite)["total"], list(suite.iter("testcase"))) == ("0.0", [])


def test_properties_of_the_whole_are_kept(grader: Grader) -> None:
    fixture = "@pytest.fixture(autouse=True, scope='session')\ndef own(record_testsuite_property):\n"
    own = f"import pytest\n{fixture}    record_testsuite_property('mine', 1)\n"
    grader.suite(conftest=own)
    assert told(suite_of(grader, *PERFECT, words=["-n0"])).keys() == {"mine", "status", "track", "total"}
