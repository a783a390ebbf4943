"""The rules of the contract."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.rules.contract import ContractFindings, compare, imported, is_free

WRITABLE = ("src/w.ts", "src/items/x.tsx")
FIXTURE = {"package.json": "p0", "src/db.ts": "d0", "src/w.ts": "w0", "src/items/x.tsx": "x0", "next-env.d.ts": "n0"}

paths = st.sampled_from([*FIXTURE, "a.ts", "src/b.ts", "next-env.d.ts", "coverage/x", "src/.DS_Store"])
trees = st.dictionaries(paths, st.sampled_from(["p0", "d0", "w0", "x0", "n0", "other"]))


def find(candidate, **sources):
    content = {"src/w.ts" if name == "w" else "src/items/x.tsx": text.encode() for name, text in sources.items()}
    return compare(candidate, FIXTURE, WRITABLE, content)


def test_the_untouched_fixture_breaks_nothing():
    assert find(FIXTURE) == ContractFindings()
    assert find(FIXTURE).violated_classes == ()


def test_writable_files_may_change():
    assert find({**FIXTURE, "src/w.ts": "new"}) == ContractFindings()


def test_each_class_is_found_and_named():
    candidate = {**FIXTURE, "package.json": "changed", "z.ts": "", "a.ts": ""}
    del candidate["src/db.ts"], candidate["src/w.ts"]
    found = find(candidate)
    assert [path for path, _ in found.added] == ["a.ts", "z.ts"]
    assert [(path, why.split()[-1]) for path, why in found.protected] == [
        ("package.json", "changed."),
        ("src/db.ts", "deleted."),
    ]
    assert [path for path, _ in found.exports] == ["src/w.ts"]
    assert found.violated_classes == ("added", "protected", "exports")


@pytest.mark.parametrize(
    "path",
    ["next-env.d.ts", "tsconfig.tsbuildinfo", "src/.DS_Store", "src/a.ts~", "src/.w.ts.swp", "test-results/a/b.png"],
)
def test_what_tools_write_is_free(path):
    assert is_free(path)
    assert find({**FIXTURE, path: "anything"}) == ContractFindings()
    assert find({name: digest for name, digest in FIXTURE.items() if name != path}).protected == ()


@pytest.mark.parametrize(
    "path", ["src/coverage/a.ts", "AGENTS.md", ".env", "conftest.py", "src/test-results.ts", "coverage"]
)
def test_other_additions_are_not(path):
    assert [added for added, _ in find({**FIXTURE, path: ""}).added] == [path]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ('import { a } from "./helper";', "src/helper.ts"),
        ("import './helper.js'", "src/helper.ts"),
        ('export * from "@/helper"', "src/helper.ts"),
        ('const a = await import("../src/helper")', "src/helper.ts"),
        ('import type { A } from "./deep"', "src/deep/index.tsx"),
        ('import data from "./data.json"', "src/data.json"),
        ('import {\n  a,\n} from "./helper";', "src/helper.ts"),
    ],
)
def test_an_import_of_a_file_that_was_left_out_is_explained(source, target):
    found = find({**FIXTURE, target: "new"}, w=source)
    assert found.left_out_imports == (
        ("src/w.ts", f"It imports {target}, which was left out: it does not belong to the writable files."),
    )
    assert found.violated_classes == ("added",)


def test_an_import_of_anything_else_is_none_of_our_business():
    source = 'import "react"; import { db } from "@/db"; import "./helpers"; const s = "from ./helper";'
    assert list(imported("src/w.ts", source, {"src/helper.ts"})) == []


def test_an_import_is_named_once():
    source = 'import { a } from "./helper"; import { b } from "@/helper";'
    assert list(imported("src/w.ts", source, {"src/helper.ts"})) == ["src/helper.ts"]


@given(trees)
def test_every_difference_is_in_exactly_one_class_or_allowed(candidate):
    found = find(candidate)
    named = [path for path, _ in (*found.added, *found.protected, *found.exports)]
    assert len(named) == len(set(named))
    for path in {*candidate, *FIXTURE}:
        if path in WRITABLE:
            assert (path in named) == (path not in candidate)
        else:
            assert (path in named) == (candidate.get(path) != FIXTURE.get(path) and not is_free(path))


@given(trees)
def test_findings_survive_json(candidate):
    found = find(candidate, w='import "../a"')
    assert ContractFindings.from_json(json.loads(json.dumps(found.to_json()))) == found


@given(trees, st.randoms())
def test_the_order_of_files_does_not_matter(candidate, random):
    shuffled = list(candidate.items())
    random.shuffle(shuffled)
    assert find(dict(shuffled)) == find(candidate)
