"""What a person and a program read of a grading."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gradings import PERFECT, Grader

from pytest_lendbench.bench.gate import GateResult
from pytest_lendbench.bench.grading import Prepared
from pytest_lendbench.faces.json_report import JsonFace, Report, build
from pytest_lendbench.faces.terminal import render
from pytest_lendbench.result import GradingResult, Invalid, ReportSection
from pytest_lendbench.rules.catalog import Catalog
from pytest_lendbench.rules.checks import CheckSpec
from pytest_lendbench.rules.contract import ContractFindings
from pytest_lendbench.rules.ledger import Ledger
from pytest_lendbench.rules.scoring import Measures, score

LONG = "None of the catalogue's reads waits for another, in whichever order a person or a program has asked for them."
CATALOG = Catalog.of(
    [
        CheckSpec("C.parallel-reads", "check", "C", 2, 1, "C.11", LONG, "reads do not wait"),
        CheckSpec("C.heading", "check", "C", 0, 0.25, "C.1", "The heading is there.", "there is a heading"),
        CheckSpec("P.race", "probe", "P", 1, 1, "", "Two desks act at once.", "two desks lend one item"),
        CheckSpec("ADV.hook", "advisory", "ADV", None, 1, "", "A hook is nice.", "a hook is used"),
    ]
)


def prepared(**changes: Any) -> Prepared:
    whole = Prepared(
        candidate="/trees/one",
        track="build",
        run_dir="/tmp/x",  # noqa: S108 (only a name)
        tree="/tmp/x/tree",  # noqa: S108
        node="node",
        node_modules="node_modules",
        tools="tools",
        browser=None,
        contract=ContractFindings(),
        gate=GateResult(passed=True, step=None, output="", duration=1.0),
        timings={"read": 0.1, "gate": 3.25},
        provenance={"versions": {"node": "22.1.0"}},
    )
    return replace(whole, **changes)


def result(
    said: dict[str, tuple[str, str]], status: str = "scored", found: Prepared | None = None, **changes: Any
) -> GradingResult:
    ledger = Ledger(CATALOG)
    for name, (verdict, message) in said.items():
        ledger.report(name, verdict, message)  # type: ignore[arg-type]
    made = found or prepared()
    measures = Measures(made.gate.passed, len(made.contract.violated_classes))
    whole = GradingResult(
        status=status,  # type: ignore[arg-type]
        exit_status=1,
        candidate=Path("/trees/one"),
        track="build",
        score=score(ledger, measures) if status == "scored" else None,
        min_score=None,
        invalid=None,
        entries=tuple(ledger),
        prepared=made,
        catalog_sha256=CATALOG.sha256,
        timings={"read": 0.1, "gate": 3.25, "total": 17.5},
        provenance={},
        evidence=Path("/trees/lendbench-evidence"),
    )
    return replace(whole, **changes)


LOST = {
    "C.parallel-reads": ("failed", "expected both to wait, only items.count did\nassert {…} == {…}"),
    "C.heading": ("passed", ""),
    "P.race": ("failed", "two loans"),
    "ADV.hook": ("failed", "no file calls it"),
}


def text_of(shown: GradingResult, width: int = 80, *, unicode: bool = True) -> str:
    return "\n".join(line for line, _ in render(shown, width, unicode=unicode))


def test_a_person_reads_the_score_the_axes_and_why() -> None:
    shown = text_of(result(LOST))
    assert "total  28.2 of 100" in shown
    assert "completion  ████░░░░░░░░░░░░░░░░░░░░   11.0 of 55" in shown
    assert "15.0 of 15  closeout not measured" in shown
    assert "tier 2    0 of 1 checks passed" in shown
    assert "2 checks failed" in shown
    assert "  C.parallel-reads\n      expected both to wait, only items.count did\n      C.11: None of" in shown
    assert "assert {…}" not in shown
    assert "advice, not scored: ADV.hook: no file calls it" in shown
    assert "evidence  /trees/lendbench-evidence" in shown
    assert "read 0.1 s · gate 3.2 s · total 17.5 s" in shown


@pytest.mark.parametrize("width", [80, 60, 200])
def test_it_fits_the_terminal(width: int) -> None:
    crowded = replace(
        result(LOST, found=prepared(contract=ContractFindings(added=(("src/" + "x" * 30 + ".ts", LONG),)))),
        sections=(ReportSection("little", (LONG * 2,), {}),),
        timings={f"phase {number}": 1.0 for number in range(12)},
    )
    lines = [line for line, _ in render(crowded, max(width, 80))]
    assert max(len(line) for line in lines) < max(width, 80)


def test_a_terminal_without_unicode_gets_ascii() -> None:
    assert text_of(result(LOST | {"C.parallel-reads": ("passed", "")}), unicode=False).isascii()


def test_the_gates_words_are_shown() -> None:
    gate = GateResult(passed=False, step="typecheck", output="src/a.ts(3,1): error TS2322: \x1b[31mno", duration=1.0)
    shown = text_of(result({}, found=prepared(gate=gate)))
    assert "total  0.0 of 100   stopped by the gate" in shown
    assert "The typecheck failed, so no check was run" in shown
    assert "    src/a.ts(3,1): error TS2322: no" in shown


def test_an_invalid_grading_shows_no_number() -> None:
    invalid = Invalid("The disk is full.", "Free some space.", "Traceback …")
    shown = text_of(result(LOST, "invalid", invalid=invalid))
    assert "invalid: this grading says nothing about the candidate" in shown
    assert "The disk is full." in shown
    assert "Free some space." in shown
    assert "Traceback …" in shown
    assert "of 100" not in shown
    assert "checks failed" not in shown


def test_a_partial_grading_shows_no_total() -> None:
    shown = text_of(result({"C.heading": ("passed", ""), "P.race": ("failed", "two loans")}, "partial"))
    assert "1 of 2 selected checks passed" in shown
    assert "There is no total" in shown
    assert "two loans" in shown


def test_findings_of_the_contract_are_shown() -> None:
    findings = ContractFindings(
        protected=(("src/db/x.ts", "Protected, but changed."),), left_out_imports=(("a.ts", "It imports b.ts."),)
    )
    shown = text_of(result(LOST, found=prepared(contract=findings)))
    assert "protected file src/db/x.ts: Protected, but changed." in shown
    assert "import a.ts: It imports b.ts." in shown


def test_the_json_has_what_its_type_says() -> None:
    report = build(result(LOST))
    assert report.keys() == Report.__annotations__.keys()
    again = json.loads(json.dumps(report))
    assert again["schema"] == 2
    assert again["axes"]["completion"]["points"] == pytest.approx(11.0)
    assert {check["id"]: check["verdict"] for check in again["checks"]} == {
        name: said[0] for name, said in LOST.items()
    }
    assert again["catalog_sha256"] == CATALOG.sha256
    assert again["gate"] == {"passed": True, "step": None, "output": "", "duration": 1.0}


def test_the_json_file_is_whole_or_absent(tmp_path: Path) -> None:
    file = tmp_path / "score.json"
    odd = replace(result(LOST), candidate=Path("/trees/\udcff"))
    JsonFace(file).pytest_lendbench_publish(odd)
    assert json.loads(file.read_text("utf-8"))["candidate"] == "/trees/\udcff"
    unwritable = replace(odd, provenance={"not json": object()})
    with pytest.raises(TypeError):
        JsonFace(tmp_path / "other.json").pytest_lendbench_publish(unwritable)
    assert [path.name for path in tmp_path.iterdir()] == ["score.json"]


def test_no_colours_in_a_pipe(grader: Grader) -> None:
    grader.suite()
    assert "\x1b" not in grader.run(f"--candidate={grader.candidate('one')}", "-n0").output


def test_one_line_of_progress_for_each_phase_in_a_pipe(grader: Grader, way: list[str]) -> None:
    grader.suite()
    tree = grader.candidate(*PERFECT)
    output = grader.grade(tree, *way).output
    assert output.splitlines()[:4] == [
        f"  grading {tree} (track build)",
        "  fake: making the tree",
        "  checks",
        "  scored: 4 of 4 passed",
    ]
