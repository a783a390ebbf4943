"""Steps 1 to 4 of a grading, on the untouched app and on trees that may not be graded."""

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_lendbench.bench import grading, layout
from pytest_lendbench.bench.gate import GateResult
from pytest_lendbench.bench.grading import Prepared, prepare
from pytest_lendbench.rules.errors import CandidateRefused, InstrumentError, UsageProblem

IGNORED = shutil.ignore_patterns("node_modules", ".next", "*.tsbuildinfo")


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A place of its own for temporary files; nothing may be left there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def candidate(tmp_path):
    return Path(shutil.copytree(layout.fixture() / "app", tmp_path / "candidate", ignore=IGNORED))


@pytest.fixture
def no_gate(monkeypatch):
    """For tests of what comes before the gate."""
    monkeypatch.setattr(grading, "run_gate", lambda *_: GateResult(True, None, "", 0.0))


def test_the_untouched_app_passes(candidate, temporary):
    said = []
    prepared = prepare(candidate, "build", said.append)
    try:
        assert prepared.gate == GateResult(True, None, "", prepared.gate.duration)
        assert prepared.contract.violated_classes == ()
        assert (Path(prepared.tree) / ".next" / "BUILD_ID").is_file()
        assert Path(prepared.run_dir).parent == temporary
        assert set(prepared.timings) == {"read", "contract", "toolchain", "assembly", "gate"}
        assert prepared.provenance["versions"]["next"] == "16.4.6"
        assert Prepared.from_json(json.loads(json.dumps(prepared.to_json()))) == replace(prepared, sources=None)
        copy = prepared.run_copy("w0")
        assert (copy / ".next" / "BUILD_ID").is_file()
        assert not (copy / ".next" / "cache").exists()
        assert said
    finally:
        shutil.rmtree(prepared.run_dir)


def test_an_import_of_a_file_that_was_left_out_is_said_before_the_compilers_words(candidate):
    (candidate / "src/items/helper.ts").write_text("export const help = 1;\n")
    with (candidate / "src/items/status.ts").open("a") as file:
        file.write('export { help } from "./helper";\n')
    prepared = prepare(candidate, "build", lambda _: None)
    shutil.rmtree(prepared.run_dir)
    assert [path for path, _ in prepared.contract.added] == ["src/items/helper.ts"]
    assert prepared.gate.step == "typecheck"
    first, *rest = prepared.gate.output.splitlines()
    assert first.startswith("src/items/status.ts: It imports src/items/helper.ts, which was left out")
    assert any("error TS2307" in line for line in rest)


@pytest.mark.usefixtures("no_gate")
def test_only_writable_files_reach_the_tree(candidate):
    (candidate / "src/items/status.ts").write_text("// mine\n")
    (candidate / "src/lib/clock.ts").write_text("// mine\n")
    (candidate / "next.config.ts").write_text("// mine\n")
    (candidate / ".npmrc").write_text("node-options=--require=/evil.js\n")
    (candidate / "src/items/filters.ts").unlink()
    prepared = prepare(candidate, "build", lambda _: None)
    tree = Path(prepared.tree)
    try:
        assert (tree / "src/items/status.ts").read_text() == "// mine\n"
        for protected in ("src/lib/clock.ts", "src/items/filters.ts"):
            assert (tree / protected).read_bytes() == (layout.fixture() / "app" / protected).read_bytes()
        assert "mine" not in (tree / "next.config.ts").read_text()
        assert not (tree / ".npmrc").exists()
        assert prepared.contract.violated_classes == ("added", "protected", "exports")
    finally:
        shutil.rmtree(prepared.run_dir)


@pytest.mark.usefixtures("no_gate")
def test_odd_names_are_added_files_like_any_other(candidate):
    (candidate / "right\u202eleft.ts").write_text("")
    prepared = prepare(candidate, "build", lambda _: None)
    shutil.rmtree(prepared.run_dir)
    assert [path for path, _ in prepared.contract.added] == [r"right\u202eleft.ts"]
    json.dumps(prepared.to_json()).encode()


def test_a_tree_with_a_link_is_refused(candidate):
    (candidate / "src/items/link.ts").symlink_to("/etc/passwd")
    with pytest.raises(CandidateRefused, match=r"src/items/link\.ts: a symbolic link"):
        prepare(candidate, "build", print)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda _: None, "There is no "),
        (lambda path: path.write_text(""), "is a file"),
        (lambda path: path.mkdir(), "is empty"),
        (lambda path: (path / "src").mkdir(parents=True), "is not a tree of the Lending Desk app"),
        (lambda path: shutil.copytree(layout.fixture() / "app", path / "app", ignore=IGNORED), "is not a tree of"),
    ],
)
def test_what_is_no_candidate_is_a_usage_problem(tmp_path, make, words):
    make(tmp_path / "x")
    with pytest.raises(UsageProblem, match=words):
        prepare(tmp_path / "x", "build", print)


def test_an_unknown_track_is_a_usage_problem(candidate):
    with pytest.raises(UsageProblem, match=r"Choose one of: .*build"):
        prepare(candidate, "nonsense", print)


def test_a_temporary_directory_inside_a_repository_is_refused(candidate, temporary):
    (temporary.parent / ".git").mkdir()
    with pytest.raises(InstrumentError, match="Set TMPDIR"):
        prepare(candidate, "build", print)


def test_a_failure_on_the_way_leaves_nothing(candidate, monkeypatch):
    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(grading, "run_gate", fail)
    with pytest.raises(KeyboardInterrupt):
        prepare(candidate, "build", print)


def test_a_build_is_used_again_only_for_the_same_files(candidate, tmp_path, monkeypatch):
    kept = {}
    monkeypatch.setattr(grading.builds.cache, "existing", kept.get)
    monkeypatch.setattr(grading.builds.cache, "forget", lambda *_: None)

    def once(name, make, say):
        if not name.startswith("built-"):
            return real_once(name, make, say)
        kept[name] = tmp_path / name
        kept[name].mkdir()
        make(kept[name])
        return kept[name]

    real_once = grading.builds.cache.once
    monkeypatch.setattr(grading.builds.cache, "once", once)

    def reused():
        prepared = prepare(candidate, "build", print, reuse=True)
        try:
            assert (Path(prepared.tree) / ".next" / "BUILD_ID").is_file()
            assert prepared.gate.passed
            return prepared.provenance["reused_build"]
        finally:
            shutil.rmtree(prepared.run_dir)

    assert [reused(), reused()] == [False, True]
    with (candidate / "src/items/status.ts").open("a", encoding="utf-8") as stream:
        stream.write("// another tree\n")
    assert reused() is False


def test_the_analysis_reads_text(candidate, no_gate):
    with (candidate / "src/items/status.ts").open("ab") as stream:
        stream.write(b"// caf\xe9\n")
    prepared = prepare(candidate, "build", print)
    try:
        read = (prepared.sources.tree / "src/items/status.ts").read_text("utf-8")
    finally:
        shutil.rmtree(prepared.run_dir)
    assert prepared.sources.scratch != Path(prepared.run_dir, "tmp")
    assert read.endswith("// caf\N{REPLACEMENT CHARACTER}\n")


def test_a_closeout_is_judged_with_the_gate(candidate, no_gate, monkeypatch):
    monkeypatch.setattr(grading, "run_gate", lambda *_: GateResult(False, "build", "no", 0.0))
    plan = candidate / "plan/plan.md"
    plan.write_text(plan.read_text("utf-8").replace("- [ ]", "* [X]"), "utf-8")
    prepared = prepare(candidate, "build", print)
    shutil.rmtree(prepared.run_dir)
    broken = {rule.name: rule.broken for rule in prepared.closeout.rules if not rule.held}
    assert broken.keys() == {"count", "status", "completed-at", "claims"}
    assert "T5.2 is ticked, and the build fails" in broken["claims"]
