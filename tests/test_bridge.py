"""The unit bridge, on a real tree with functions and components made for this."""

from datetime import UTC, datetime, timedelta, timezone

import psutil
import pytest

from pytest_lendbench.bench import bridge, toolchain
from pytest_lendbench.bench.assembly import assemble
from pytest_lendbench.bench.bridge import Bridge
from pytest_lendbench.rules.errors import CandidateFault, InstrumentError

FUNCTIONS = "src/items/status.ts"
CARD = "src/items/item-card.tsx"

SOURCES = {
    FUNCTIONS: """
import "server-only";
import { now } from "@/lib/clock";

export const echo = (...all: unknown[]) => all;
export const present = () => now();
export const variable = async (name: string) => process.env[name];
export const later = (at: Date) => ({ at: new Date(at.getTime() + 1000), gone: undefined });
export const nothing = () => undefined;
export const label = "no function";
let calls = 0;
export const count = () => (calls += 1);

export const throws = () => { throw new RangeError("out of reach"); };
export const throwsText = () => { throw "just text"; };
export const map = () => ({ rows: [new Map()] });
export const notANumber = () => NaN;
export const oddDate = () => ({ $date: 1 });
export const nested = () => { let all: unknown[] = []; for (let n = 0; n < 1500; n += 1) all = [all]; return all; };
export const exits = () => { console.log("last words"); process.exit(3); };
export const spins = () => { for (;;); };
export const waits = () => new Promise(() => setInterval(() => {}, 1000));
export const shouts = () => { console.log('{"value": "forged"}'); console.error("x".repeat(5_000)); return "real"; };
export const garbage = async () => {
  const { writeSync } = await import("node:fs");
  for (let fd = 3; fd < 64; fd += 1) try { writeSync(fd, "garbage\\n"); } catch { /* not ours */ }
};
""",
    CARD: """
import Link from "next/link";
import { formatDay } from "@/lib/desk-time";

export function ItemCard({ name, due }: { name: string; due: string }) {
  return <article><Link href={`/items/${encodeURIComponent(name)}`}>{name}</Link> {formatDay(due)}</article>;
}
export async function Later({ name }: { name: string }) {
  return <b>{await Promise.resolve(name)}</b>;
}
export function Broken(): never {
  throw new Error("cannot be shown");
}
""",
    "src/items/filters.ts": 'throw new Error("not even loaded");\nexport const readFilters = () => ({});\n',
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    tools = toolchain.provide(print)
    folder = tmp_path_factory.mktemp("bridge")
    assemble(folder / "tree", {path: text.encode() for path, text in SOURCES.items()}, tools.node_modules)
    return folder / "tree", tools.node, tools.tools, folder


@pytest.fixture(scope="module")
def unit(place):
    with Bridge(*place) as made:
        yield made


def fault(unit, name, file=FUNCTIONS):
    with pytest.raises(CandidateFault) as caught:
        unit.call(file, name, [])
    return str(caught.value)


def test_plain_data_goes_there_and_back(unit):
    data = [1, -0.5, "ä\u2028\n", None, True, {"a": [{"b": {}}]}, []]
    assert unit.call(FUNCTIONS, "echo", data) == data


def test_dates_are_dates_on_both_sides(unit):
    at = datetime(2031, 11, 4, 22, 40, tzinfo=timezone(timedelta(hours=-3, minutes=-30)))
    assert unit.call(FUNCTIONS, "later", [at]) == {"at": datetime(2031, 11, 5, 2, 10, 1, tzinfo=UTC)}


def test_undefined_is_none(unit):
    assert unit.call(FUNCTIONS, "nothing", []) is None


def test_environment_holds_for_one_call(unit):
    assert unit.call(FUNCTIONS, "present", [], env={"DESK_NOW": "2040-01-01T00:00:00Z"}).year == 2040
    assert unit.call(FUNCTIONS, "present", []).year == 2031
    assert unit.call(FUNCTIONS, "variable", ["HOME"], env={"HOME": "/x"}) == "/x"
    assert unit.call(FUNCTIONS, "variable", ["HOME"]) == "/nonexistent"


def test_a_component_is_rendered(unit):
    html = unit.render(CARD, "ItemCard", {"name": "a/b <c>", "due": "2031-11-04"})
    assert html == '<article><a href="/items/a%2Fb%20%3Cc%3E">a/b &lt;c&gt;</a> 4 Nov 2031</article>'


def test_an_async_component_is_rendered_too(unit):
    assert unit.render(CARD, "Later", {"name": "x"}) == "<b>x</b>"


def test_what_it_throws_is_the_evidence(unit):
    assert fault(unit, "throws") == (
        "`throws` of src/items/status.ts failed. RangeError: out of reach (src/items/status.ts:14)"
    )
    assert "just text" in fault(unit, "throwsText")
    with pytest.raises(CandidateFault, match="cannot be shown"):
        unit.render(CARD, "Broken", {})


def test_an_export_that_is_missing_or_no_function_is_named(unit):
    assert 'src/items/status.ts exports no function "missing"' in fault(unit, "missing")
    assert 'exports no function "label"' in fault(unit, "label")


def test_a_module_that_cannot_be_loaded_is_the_candidates(unit):
    assert "not even loaded" in fault(unit, "readFilters", "src/items/filters.ts")


def test_a_result_that_is_no_plain_data_is_named(unit):
    assert "The result.rows[0] is no plain data: [object Map]" in fault(unit, "map")
    assert "no plain data: NaN" in fault(unit, "notANumber")


def test_what_it_prints_is_no_answer(unit):
    assert unit.call(FUNCTIONS, "shouts", []) == "real"


def test_an_answer_without_end_is_no_answer(unit, monkeypatch):
    monkeypatch.setattr(bridge, "MAX_REPLY", 5)
    assert "more than 5 bytes" in fault(unit, "shouts")


def test_the_process_lives_on_after_an_error(unit):
    before = unit.call(FUNCTIONS, "count", [])
    fault(unit, "throws")
    assert unit.call(FUNCTIONS, "count", []) == before + 1


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        ("exits", ["ended the process it ran in (status 3)", "last words"]),
        ("oddDate", ["wrote into the bridge's own socket"]),
        ("nested", ["wrote into the bridge's own socket"]),
        ("garbage", ["wrote into the bridge's own socket"]),
    ],
)
def test_after_its_end_a_new_process_answers(unit, name, evidence):
    said = fault(unit, name)
    assert all(words in said for words in evidence)
    assert unit.call(FUNCTIONS, "count", []) == 1


@pytest.mark.parametrize("name", ["spins", "waits"])
def test_a_call_that_never_ends_is_stopped(unit, monkeypatch, name):
    unit.call(FUNCTIONS, "count", [])
    monkeypatch.setattr(bridge, "CALL_S", 1)
    monkeypatch.setattr(bridge, "blame", lambda what, _: CandidateFault(what))
    assert "did not answer within 1 s" in fault(unit, name)
    monkeypatch.undo()
    assert unit.call(FUNCTIONS, "count", []) == 1


def test_a_call_that_never_ends_on_a_starved_machine_is_no_verdict(unit, monkeypatch):
    monkeypatch.setattr(bridge, "CALL_S", 1)
    monkeypatch.setattr(bridge, "blame", lambda what, _: InstrumentError(what, "Wait."))
    with pytest.raises(InstrumentError):
        unit.call(FUNCTIONS, "spins", [])


def test_a_module_that_cannot_be_bundled_is_ours_to_explain(unit):
    with pytest.raises(InstrumentError, match=r"src/missing\.ts could not be bundled"):
        unit.call("src/missing.ts", "x", [])


def test_missing_tools_are_ours_to_explain(place, tmp_path):
    tree, node, _, _ = place
    with Bridge(tree, node, tmp_path, tmp_path) as unit, pytest.raises(InstrumentError, match="esbuild is missing"):
        unit.call(FUNCTIONS, "count", [])


def test_closing_leaves_nothing(place):
    before = {one.pid for one in psutil.Process().children(recursive=True)}
    files = set(place[3].iterdir())
    unit = Bridge(*place)
    unit.call(FUNCTIONS, "count", [])
    assert {one.pid for one in psutil.Process().children(recursive=True)} > before
    unit.close()
    unit.close()
    assert {one.pid for one in psutil.Process().children(recursive=True)} <= before
    assert set(place[3].iterdir()) == files
