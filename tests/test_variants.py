"""The variants: they change much and mean nothing. That no verdict changes, the kill matrix shows."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from pytest_lendbench.bench import assembly, gate, layout, toolchain, variants
from pytest_lendbench.bench.specimen import specimen
from pytest_lendbench.rules.errors import InstrumentError

ALTERNATES = sorted(f"alternates/{path.name}" for path in (layout.fixture() / "alternates").iterdir())
WRITABLE = layout.track("build").writable
SOURCES = {path for path in WRITABLE if path.endswith((".ts", ".tsx"))}


@pytest.fixture(scope="module")
def every():
    return variants.variants()


@pytest.fixture
def one_file(tmp_path):
    """Writes a tree of one source file; a call says how one variant writes it."""

    def rewritten(name, source, path="src/items/item-card.tsx"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        variants.apply(tmp_path, [name])
        return file.read_bytes().decode()

    return rewritten


def contents(tree):
    return {str(path.relative_to(tree)): path.read_bytes() for path in tree.rglob("*") if path.is_file()}


def complaints(tree):
    """What the compiler says of a tree."""
    tools = toolchain.provide(print)
    with tempfile.TemporaryDirectory(prefix="lendbench-test-") as folder:
        clean, scratch = Path(folder, "tree"), Path(folder, "tmp")
        scratch.mkdir()
        assembly.assemble(clean, {path: (tree / path).read_bytes() for path in WRITABLE}, tools.node_modules)
        return gate.typecheck(clean, tools, scratch)


def test_there_are_many_and_each_says_what_it_changes(every):
    assert len({variant.id for variant in every}) == len(every) >= 12
    assert len({variant.description for variant in every}) == len(every)
    for variant in every:
        assert variant.description[0].isupper() or variant.description[0] == "`"
        assert variant.description.endswith(".")


def test_none_is_left_out(every):
    modules = {path.stem for path in (layout.fixture() / "variants" / "changes").glob("*.mjs")}
    assert {variant.id for variant in every} == modules


def applied(tree):
    """The places that all variants at once have changed in a tree; and nothing but source files that may change."""
    before = contents(tree)
    places = variants.apply(tree)
    after = contents(tree)
    assert before.keys() == after.keys()
    assert {path for path in after if before[path] != after[path]} == SOURCES
    return places


def test_each_changes_something_in_the_reference_and_they_can_be_applied_again(every):
    with specimen("reference") as tree:
        places = applied(tree)
        assert list(places) == [variant.id for variant in every]
        assert not [name for name, count in places.items() if count == 0]
        applied(tree)
        assert complaints(tree) is None


@pytest.mark.parametrize("overlay", ALTERNATES)
def test_most_change_something_in_an_alternate_and_its_types_are_right_afterwards(overlay):
    with specimen(overlay) as tree:
        places = applied(tree)
        assert sum(count > 0 for count in places.values()) > 0.9 * len(places)
        assert complaints(tree) is None


def test_a_chosen_one_is_applied_alone():
    with specimen("reference") as tree:
        before = contents(tree)
        assert variants.apply(tree, ["quotes"]).keys() == {"quotes"}
        after = contents(tree)
    card = "src/items/item-card.tsx"
    assert after[card] == before[card].replace(b'"', b"'")


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("reordered-reads", "const [a, b] = await Promise.all([f(), g(await h())]);"),
        ("reordered-properties", "const both = { a: f(), b: g() };"),
        ("reordered-properties", "const all = { b: 1, a: 2 };\nfor (const key of Object.keys(all)) say(key);"),
        ("reordered-attributes", "const x = <X a={f()} b={g()} />;"),
        ("reordered-attributes", "const x = <X a={1} {...rest} b={2} />;"),
        ("mirrored-comparisons", "const first = f() < g();"),
        ("spelled-out-defaults", "const value = f() ?? 1;"),
        ("jsx-conditions", "const x = <p>{list.length && <X />}</p>;"),
        ("split-texts", "const x = <option>All categories</option>;"),
        ("split-texts", "const x = <Card>Two words</Card>;"),
        ("wrapped-texts", '<p className="flex gap-2">{a}{b}</p>;'),
        ("wrapped-blocks", "const x = list.map((one) => <section key={one.id}>{one.name}</section>);"),
        ("extracted-components", "function X({ name }) {\n  return <div>\n<p>{name}</p></div>;\n}"),
        ("fragments", "const x = list.map((one) => {\n  return <li key={one}>{one}</li>;\n});"),
        ("function-style", "const x = f();\nfunction f() {\n  return 1;\n}"),
        ("function-style", "const x = g();\nfunction f() {\n  return 1;\n}\nfunction g() {\n  return f();\n}"),
        ("renamed-helpers", "const x = 1;\nexport { x };"),
        ("other-field-names", '<input name="q" />;'),
        ("renamed-ids", '<label htmlFor="elsewhere">Name</label>;'),
        ("concatenated-texts", "const x = html`<p>${name}</p>`;"),
        ("quotes", 'const x = "It\'s \\" so";'),
    ],
)
def test_what_might_matter_is_left_alone(one_file, name, source):
    assert one_file(name, source) == source


@pytest.mark.parametrize(
    ("name", "source", "result"),
    [
        ("renamed-locals", "function f({ a, b: c }) {\n  return { a, c };\n}", "function f({ a: aHere, b: cHere })"),
        ("split-texts", "<p>Shelf {`Shelf ${x}`}</p>;", '<p>Shelf {"Shelf "}{String(x)}</p>;'),
        ("concatenated-texts", "f(`${a}: ${b}`);", 'f((String(a) + ": " + String(b)));'),
        ("import-paths", 'import { a } from "@/ui/a";\nimport "./b";', 'from "../ui/a";\nimport "@/items/b";'),
        (
            "export-lists",
            "export default function F() {}\nexport interface P {}",
            "export default F;\nexport type { P };",
        ),
        (
            "react-namespace",
            'import { useRef } from "react";\nuseRef();',
            'import * as React from "react";\nReact.useRef();',
        ),
        (
            "extracted-components",
            'function X() {\n  return <div>\n<h2 className="mt-2">Hi</h2></div>;\n}',
            'return <div>\n<Part /></div>;\n}\n\nfunction Part() {\nreturn (\n<h2 className="mt-2">Hi</h2>\n);\n}',
        ),
        ("formatting", "  f(`\n  x`);\n\n  g();\n", "\tf(`\r\n  x`);\r\n\tg();\r\n"),
    ],
)
def test_examples(one_file, name, source, result):
    assert result in one_file(name, source)


def test_an_unknown_one_is_explained(tmp_path):
    with pytest.raises(InstrumentError, match=r"no variant 'nonsense'. Choose among: .*quotes"):
        variants.apply(tmp_path, ["quotes", "nonsense"])


def test_a_file_that_is_no_typescript_is_named(one_file):
    with pytest.raises(InstrumentError, match=r"(?s)quotes on src/items/item-card.tsx.*Repair it"):
        one_file("quotes", "const = ;")


def test_the_lock_holds_no_addresses():
    assert '"resolved"' not in (layout.fixture() / "variants" / "package-lock.json").read_text()
