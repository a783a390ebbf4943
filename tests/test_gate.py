"""The gate, with the real compiler and build, and with programs that misbehave."""

import shutil
from pathlib import Path

import pytest

from pytest_lendbench.bench import gate, process, toolchain
from pytest_lendbench.bench.assembly import assemble
from pytest_lendbench.bench.gate import GateResult, run_gate
from pytest_lendbench.bench.toolchain import Toolchain
from pytest_lendbench.rules.errors import CandidateFault, InstrumentError


@pytest.fixture(scope="module")
def tools():
    return toolchain.provide(print)


@pytest.fixture
def pass_gate(tools, tmp_path):
    """Takes a tree with these writable files through the real gate."""

    def take(**files):
        scratch = tmp_path / "tmp"
        scratch.mkdir()
        assemble(tmp_path / "tree", {path: text.encode() for path, text in files.items()}, tools.node_modules)
        return run_gate(tmp_path / "tree", tools, scratch, print), tmp_path / "tree"

    return take


def test_a_type_error_stops_it_before_the_build(pass_gate, tmp_path):
    result, tree = pass_gate(**{"src/items/return-form.tsx": "export const ReturnForm: number = 'text';"})
    assert (result.passed, result.step) == (False, "typecheck")
    assert "src/items/return-form.tsx(1,14): error TS2322" in result.output
    assert str(tmp_path) not in result.output
    assert not (tree / ".next" / "BUILD_ID").exists()


def test_a_build_error_is_told_in_the_words_of_next(pass_gate, tmp_path):
    page = (
        '"use client";\nexport const metadata = { title: "Items" };\nexport default function Page() { return null; }\n'
    )
    result, _ = pass_gate(**{"src/app/items/page.tsx": page})
    assert (result.passed, result.step) == (False, "build")
    assert "metadata" in result.output
    assert "src/app/items/page.tsx" in result.output
    assert str(tmp_path) not in result.output
    assert "\x1b" not in result.output


class TestAProgramThatMisbehaves:
    """The steps of the gate with a shell script in the place of Node."""

    @pytest.fixture
    def step(self, tmp_path):
        def run(script):
            node = tmp_path / "node"
            node.write_text(f"#!/bin/bash\n{script}\n")
            node.chmod(0o755)
            tools = Toolchain(node, "20.19.0", tmp_path, tmp_path, "key")
            (tmp_path / "tree").mkdir()
            return gate.build(tmp_path / "tree", tools, tmp_path)

        return run

    def test_a_hang_is_the_candidates(self, step, monkeypatch):
        monkeypatch.setattr(gate, "STEP_S", 0.5)
        monkeypatch.setattr(process, "blame", lambda what, _: CandidateFault(what))
        assert step("echo building; sleep 1000") == "It ran for more than 0.5 s.\nbuilding"

    def test_a_hang_on_a_starved_machine_is_not(self, step, monkeypatch):
        monkeypatch.setattr(gate, "STEP_S", 0.5)
        monkeypatch.setattr(process, "blame", lambda what, _: InstrumentError(what, "Wait."))
        with pytest.raises(InstrumentError):
            step("sleep 1000")

    def test_a_flood_is_the_candidates_and_its_report_is_short(self, step):
        words = step("yes flood")
        assert words.startswith("It wrote more than 10,000,000 bytes of output.\nflood")
        assert len(words) < 9000

    def test_processes_without_end_are_the_candidates(self, step):
        assert step("while true; do sleep 1000 & done").startswith("It had more than 200 processes at a time.")

    def test_colours_and_places_are_taken_out(self, step):
        assert step("printf '\\e[31mError\\e[0m in %s/src/a.ts, %s\\n' $PWD $PWD; exit 1") == "Error in src/a.ts, ."

    def test_silence_has_words_too(self, step):
        assert step("exit 7") == "It ended with status 7."

    def test_an_end_without_a_build_is_no_success(self, step):
        assert "left no build" in step("exit 0")

    def test_being_killed_from_outside_is_no_verdict(self, step):
        with pytest.raises(InstrumentError, match="memory"):
            step("kill -KILL $$")

    def test_a_full_disk_is_no_verdict(self, step, monkeypatch):
        usage = shutil.disk_usage(Path("/"))
        monkeypatch.setattr(gate.shutil, "disk_usage", lambda _: usage._replace(free=5))
        with pytest.raises(InstrumentError, match="Only 5 bytes are free"):
            step("exit 1")


def test_results_survive_json():
    result = GateResult(False, "build", "words", 1.5)
    assert GateResult.from_json(result.to_json()) == result
