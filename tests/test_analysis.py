"""The quality of sources, by the real compiler and the real analyzer."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from laying_out import ITEMS, laid_out

from pytest_lendbench.bench import analysis, baseline, layout
from pytest_lendbench.bench.specimen import specimen
from pytest_lendbench.rules.errors import InstrumentError
from pytest_lendbench.rules.quality import counted

SLOPPY = Path(__file__).with_name("sloppy")
ALTERNATES = sorted(path.name for path in (layout.fixture() / "alternates").iterdir())


@pytest.mark.parametrize("overlay", ["reference", *(f"alternates/{name}" for name in ALTERNATES)])
def test_careful_trees_keep_their_exports_and_lose_little(overlay, tmp_path):
    with specimen(overlay) as tree, laid_out(tree, tmp_path) as sources:
        found = analysis.analyse(sources, quality=True)
    assert found.exports == ()
    assert found.quality is not None
    # Two points of the ten.
    assert found.quality.penalty <= (0 if overlay == "reference" else 6)


def test_the_usual_sloppiness_costs_most_of_quality_and_each_finding_has_its_line(tmp_path):
    with specimen("reference") as tree:
        shutil.copytree(SLOPPY, tree, dirs_exist_ok=True)
        with laid_out(tree, tmp_path) as sources:
            found = analysis.analyse(sources, quality=True).quality
    assert found is not None
    assert found.penalty >= 25
    lines = {one.rule: one.source for one in found.above}
    assert lines["signal/console-call"].startswith("console.log(")
    assert lines["signal/unused-import"] == 'import { useEffect, useMemo, useState } from "react";'
    assert lines["react-doctor/button-has-type"].startswith("<button onClick={submit}>")
    assert lines.keys() >= {
        "signal/explicit-any",
        "signal/non-null-assertion",
        "react-doctor/nextjs-no-img-element",
        "react-doctor/no-loading-flag-reset-outside-finally",
    }


def test_a_comment_silences_nothing_and_a_repeated_block_is_found_once(tmp_path):
    block = "{ " + " ".join(f"const name{n} = String(value).padStart({n}, '0');" for n in range(6)) + " return name0; }"
    with specimen("reference") as tree:
        file = f"{ITEMS}/status.ts"
        text = (tree / file).read_text("utf-8")
        again = block.replace("; ", ";  // again\n")
        added = f"\nfunction one(value: any) {block}\nfunction two(value: number) {again}\n"
        (tree / file).write_text(f"// @ts-nocheck\n/* eslint-disable */\n{text}{added}\none(two(1));\n", "utf-8")
        with laid_out(tree, tmp_path) as sources:
            found = [one.rule for one in analysis.compiled(sources)[1] if one.file == file]
    assert sorted(found) == ["signal/explicit-any", "signal/repeated-block"]


def test_a_comment_silences_the_analyzer_no_more_than_the_compiler(tmp_path):
    with specimen("reference") as tree:
        shutil.copytree(SLOPPY, tree, dirs_exist_ok=True)
        with laid_out(tree, tmp_path) as sources:
            loud = counted(analysis.diagnosed(sources))
            for file in (sources.tree / ITEMS).glob("*.tsx"):
                text = file.read_text("utf-8")
                silenced = text.replace("<button", "{/* eslint-disable-next-line */}\n<button").replace(
                    "<img", "{/* oxlint-disable */}\n<img"
                )
                file.write_text(f"/* eslint-disable */\n// oxlint-disable\n{silenced}", "utf-8")
            assert counted(analysis.diagnosed(sources)) == loud


def test_a_file_on_one_line_is_looked_at_as_well(tmp_path):
    with specimen("reference") as tree:
        shutil.copytree(SLOPPY, tree, dirs_exist_ok=True)
        form = tree / ITEMS / "checkout-form.tsx"
        lines = [
            line for line in form.read_text("utf-8").splitlines() if not line.strip().startswith(("//", "/*", "*"))
        ]
        filler = f"const picture = '{'x' * 60_000}'; void picture;"
        form.write_text(" ".join(lines) + "\n" + filler, "utf-8")
        with laid_out(tree, tmp_path) as sources:
            found = [one for one in analysis.diagnosed(sources) if one.file == f"{ITEMS}/checkout-form.tsx"]
    assert {"react-doctor/button-has-type", "react-doctor/alt-text"} <= {one.rule for one in found}
    assert {one.line for one in found} == {1}


def test_the_committed_baseline_is_that_of_the_reference(tmp_path):
    with specimen("reference") as tree, laid_out(tree, tmp_path) as sources:
        found = counted([*analysis.compiled(sources)[1], *analysis.diagnosed(sources)])
    assert found == baseline.read()


def test_a_stale_baseline_is_the_graders_fault(tmp_path, monkeypatch):
    stale = tmp_path / "baseline.json"
    stale.write_text(json.dumps({**json.loads(baseline.path().read_text("utf-8")), "of": "0" * 64}), "utf-8")
    monkeypatch.setattr(baseline, "path", lambda: stale)
    with pytest.raises(InstrumentError, match=r"stale.*lendbench baseline"):
        baseline.read()


def test_a_file_that_the_analyzer_leaves_out_is_the_graders_fault(tmp_path):
    with specimen("reference") as tree, laid_out(tree, tmp_path) as sources:
        (sources.tree / ".gitignore").write_text("src/items/\n", "utf-8")
        subprocess.run(["git", "init", "--quiet"], cwd=sources.tree, check=True)
        with pytest.raises(InstrumentError, match="looked at"):
            analysis.diagnosed(sources)
