"""The contract's exports and the quality of sources, by the real compiler and the real analyzer."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_lendbench.bench import analysis, assembly, baseline, layout, toolchain
from pytest_lendbench.bench.reading import read_tree
from pytest_lendbench.bench.specimen import specimen
from pytest_lendbench.rules.errors import InstrumentError
from pytest_lendbench.rules.quality import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEMS, APP = "src/items", "src/app"
SLOPPY = Path(__file__).with_name("sloppy")
ALTERNATES = sorted(path.name for path in (layout.fixture() / "alternates").iterdir())


@contextmanager
def laid_out(tree: Path, folder: Path) -> Iterator[analysis.Sources]:
    tools = toolchain.provide(print)
    task = layout.track("build")
    scratch = folder / "tmp"
    scratch.mkdir()
    kept = read_tree(tree, keep=task.writable).kept
    assembly.lay_out(folder / "tree", analysis.readable(kept), tools.node_modules)
    yield analysis.Sources(folder / "tree", task.writable, tools.node, tools.tools, scratch)


def edit(tree: Path, file: str, old: str, new: str) -> None:
    text = (tree / file).read_text("utf-8")
    assert old in text, f"{file} has no {old!r}"
    (tree / file).write_text(text.replace(old, new), "utf-8")


def append(tree: Path, file: str, text: str) -> None:
    with (tree / file).open("a", encoding="utf-8") as stream:
        stream.write(text)


def exports_of(tree: Path, folder: Path) -> dict[str, list[str]]:
    with laid_out(tree, folder) as sources:
        found: dict[str, list[str]] = {}
        for path, why in analysis.compiled(sources)[0]:
            found.setdefault(path, []).append(why)
        return found


def test_changed_exports_are_found_whatever_way_they_are_written(tmp_path):
    with specimen() as tree:
        edit(tree, f"{ITEMS}/status.ts", "export function dueText", "function dueText")
        append(tree, f"{ITEMS}/item-card.tsx", "export const extra = 1;\n")
        edit(tree, f"{ITEMS}/filters.ts", "readFilters(params: SearchParams)", "readFilters(params: any)")
        edit(
            tree,
            f"{ITEMS}/lending.ts",
            "takeBackItem(entry: ReturnEntry)",
            "takeBackItem(entry: ReturnEntry, now: Date)",
        )
        append(tree, f"{ITEMS}/actions.ts", "export { returnItem as default };\n")
        edit(tree, f"{ITEMS}/checkout-form.tsx", "  latestDay: string;", "  latestDay: string;\n  color: string;")
        edit(tree, f"{APP}/items/loading.tsx", "export default function", "export function")
        edit(tree, f"{APP}/api/loans/route.ts", "Promise<Response>", "Promise<string>")
        (tree / f"{APP}/items/error.tsx").write_text('export { default } from "../members/error";\n', "utf-8")
        found = exports_of(tree, tmp_path)
    assert found.keys() == {
        f"{ITEMS}/status.ts",
        f"{ITEMS}/item-card.tsx",
        f"{ITEMS}/filters.ts",
        f"{ITEMS}/lending.ts",
        f"{ITEMS}/actions.ts",
        f"{ITEMS}/checkout-form.tsx",
        f"{APP}/items/loading.tsx",
        f"{APP}/api/loans/route.ts",
    }
    assert found[f"{ITEMS}/status.ts"] == ["`dueText` is no longer exported."]
    assert found[f"{ITEMS}/item-card.tsx"] == ["`extra` is exported, which the app does not do."]
    assert found[f"{ITEMS}/actions.ts"] == ["`default` is exported, which the app does not do."]
    assert "`readFilters` is now (params: any)" in found[f"{ITEMS}/filters.ts"][0]
    assert len(found[f"{APP}/items/loading.tsx"]) == 2


def test_what_callers_cannot_see_is_no_changed_export(tmp_path):
    with specimen() as tree:
        append(tree, f"{ITEMS}/return-form.tsx", "export type Extra = string;\nexport interface More { a: any }\n")
        edit(
            tree,
            f"{ITEMS}/item-card.tsx",
            "ItemCard(props: ItemCardProps)",
            "ItemCard({ item, status, due }: ItemCardProps)",
        )
        edit(
            tree,
            f"{ITEMS}/status.ts",
            "export function statusLabel(status: ItemStatus): string {",
            "export const statusLabel = (status: ItemStatus): string => {",
        )
        edit(
            tree,
            f"{ITEMS}/return-form.tsx",
            "return <p>Not built yet.</p>;",
            "return props.loanId ? <p>Yes.</p> : null;",
        )
        edit(tree, f"{APP}/items/page.tsx", "export const metadata: Metadata =", "export const metadata =")
        edit(
            tree,
            f"{APP}/items/error.tsx",
            "props: { error: Error & { digest?: string }; retry: () => void }",
            "{ retry }: { retry: () => void }",
        )
        edit(
            tree,
            f"{APP}/api/loans/route.ts",
            "GET(request: Request): Promise<Response>",
            "GET(request: NextRequest): Promise<NextResponse>",
        )
        edit(
            tree, f"{APP}/api/loans/route.ts", 'return problem(501, "Not built yet.");', "return NextResponse.json({});"
        )
        edit(
            tree,
            f"{APP}/api/loans/route.ts",
            "import {",
            'import { NextRequest, NextResponse } from "next/server";\nimport {',
        )
        found = exports_of(tree, tmp_path)
    assert found == {}


# ruff: noqa: E501
STATUS, CARD, FILTERS, LENDING = (
    f"{ITEMS}/{name}" for name in ("status.ts", "item-card.tsx", "filters.ts", "lending.ts")
)
CHECKOUT, RETURN = f"{ITEMS}/checkout-form.tsx", f"{ITEMS}/return-form.tsx"
CATALOGUE, FAILURE, PAGE = f"{APP}/items/page.tsx", f"{APP}/items/error.tsx", f"{APP}/items/[id]/page.tsx"
LOADING, LOANS, RETURNS = (
    f"{APP}/{name}" for name in ("items/loading.tsx", "api/loans/route.ts", "api/loans/[id]/return/route.ts")
)
LABEL = 'export function statusLabel(status: ItemStatus): string {\n  throw new Error("Not built yet.");\n}'
A_CARD = "export function ItemCard(props: ItemCardProps) {\n  return <p>Not built yet.</p>;\n}"
A_FAILURE = "export default function ItemsError(props: { error: Error & { digest?: string }; retry: () => void }) {"
LEND = 'export async function lendItem(entry: LendEntry): Promise<LendingResult> {\n  return { ok: false, rule: "", field: null, message: "Not built yet." };\n}'
WRAP = "const wrapped = <A extends unknown[], R>(inner: (...all: A) => R) => (...all: A): R => inner(...all);\n"

# Of each a module of the app and what is written instead in it: the same for who calls it.
KEPT = [
    (
        STATUS,
        LABEL,
        'const LABELS = { available: "a", "on-loan": "b", "due-today": "c", overdue: "d", maintenance: "e" } as const satisfies Record<ItemStatus, string>;\nexport const statusLabel = (status: ItemStatus) => LABELS[status];',
    ),
    (STATUS, LABEL, "const labelled = (status: ItemStatus): string => status;\nexport { labelled as statusLabel };"),
    (STATUS, LABEL, WRAP + "export const statusLabel = wrapped((status: ItemStatus): string => status);"),
    (STATUS, "at: Date,\n): ItemStatus", "at: Readonly<Date>,\n): ItemStatus"),
    (STATUS, 'openLoan: Pick<Loan, "dueOn"> | null', "openLoan: null | { readonly dueOn: DeskDay }"),
    (STATUS, 'item: Pick<Item, "inMaintenance">,', '{ inMaintenance }: Pick<Item, "inMaintenance">,'),
    (STATUS, "Date,\n): ItemStatus", 'Date,\n): Exclude<ItemStatus, "overdue">'),
    (FILTERS, "rows: readonly CatalogueRow[]", "rows: ReadonlyArray<Readonly<CatalogueRow>>"),
    (FILTERS, "import type { ItemStatus }", "import { type ItemStatus }"),
    (FILTERS, "): CatalogueFilters", "): Readonly<CatalogueFilters>"),
    (FILTERS, "import type { ItemStatus } from", 'export type * from "./status";\nimport type { ItemStatus } from'),
    (
        LENDING,
        LEND,
        WRAP
        + 'export const lendItem = wrapped(async (entry: LendEntry): Promise<LendingResult> => takeBackItem({ loanId: entry.itemId, condition: "", note: "" }));',
    ),
    (
        LENDING,
        LEND,
        'type Refusal = Extract<LendingResult, { ok: false }>;\nexport async function lendItem(entry: LendEntry): Promise<Refusal> { return { ok: false, rule: "", field: null, message: "" }; }',
    ),
    (
        LENDING,
        LEND,
        'export async function lendItem(entry: LendEntry) { return entry.dueOn ? { ok: true as const, loan: {} as Loan, message: "" } : { ok: false as const, rule: "", field: null, message: "" }; }',
    ),
    (
        CARD,
        A_CARD,
        'import { memo } from "react";\nexport const ItemCard = memo(function ItemCard(props: ItemCardProps) {\n  return <p>{props.due}</p>;\n});',
    ),
    (
        CARD,
        A_CARD,
        'export const ItemCard: React.FC<ItemCardProps> = ({ due }) => due;\nItemCard.displayName = "Card";',
    ),
    (
        CARD,
        A_CARD,
        'import { Component } from "react";\nexport class ItemCard extends Component<ItemCardProps> {\n  override render() { return <p>{this.props.due}</p>; }\n}',
    ),
    (
        CARD,
        A_CARD,
        'export function ItemCard(props: Readonly<ItemCardProps>): React.ReactNode {\n  return props.due;\n}\nItemCard.displayName = "Card";',
    ),
    (CARD, A_CARD, "export function ItemCard(props: ItemCardProps): React.JSX.Element | null {\n  return null;\n}"),
    (
        CARD,
        'Pick<Item, "id" | "name" | "category" | "shelf">',
        "{ id: string; name: string; category: string; shelf: string }",
    ),
    (CHECKOUT, "readonly MemberOption[]", "ReadonlyArray<Readonly<MemberOption>>"),
    (CHECKOUT, "defaultDueOn: DeskDay", "defaultDueOn: string"),
    (
        CATALOGUE,
        'metadata: Metadata = { title: "Not built yet" }',
        'metadata = { title: "Items" } as const satisfies Metadata',
    ),
    (CATALOGUE, "props: { searchParams: Promise<SearchParams> }", 'props: PageProps<"/items">'),
    (
        CATALOGUE,
        "props: { searchParams: Promise<SearchParams> }",
        "props: { params: Promise<object>; searchParams: Promise<{ q?: string | string[] }> }",
    ),
    (
        CATALOGUE,
        "export default async function ItemsPage(props: { searchParams: Promise<SearchParams> }) {\n  return <p>Not built yet.</p>;\n}",
        "const ItemsPage = async ({ searchParams }: { searchParams: Promise<SearchParams> }) => Object.keys(await searchParams).join();\nexport { ItemsPage as default };",
    ),
    (
        PAGE,
        "(props: ItemPageProps): Promise<Metadata> {",
        '(props: PageProps<"/items/[id]">, parent: ResolvingMetadata): Promise<Metadata> {\n  await parent;',
    ),
    (PAGE, "import type { Metadata }", "import type { Metadata, ResolvingMetadata }"),
    (
        PAGE,
        "async function ItemPage(props: ItemPageProps)",
        "async function ItemPage({ params, searchParams }: ItemPageProps & { searchParams: Promise<object> })",
    ),
    (
        FAILURE,
        A_FAILURE,
        'import type { ErrorInfo } from "next/error";\nexport default function ItemsError({ error, retry }: { error: Error; retry(): void; reset: () => void }) {',
    ),
    (FAILURE, A_FAILURE, "export default function ItemsError(props: { retry: () => void; reset: () => void }) {"),
    (
        FAILURE,
        A_FAILURE + "\n  return <p>Not built yet.</p>;\n}",
        'import { Component } from "react";\nexport default class ItemsError extends Component<{ retry: () => void }> {\n  override render() { return null; }\n}',
    ),
    (LOADING, "function ItemsLoading()", "async function ItemsLoading()"),
    (
        LOANS,
        'export async function GET(request: Request): Promise<Response> {\n  return problem(501, "Not built yet.");\n}',
        WRAP + "export const GET = wrapped(async (request: Request) => Response.json({ at: request.url }));",
    ),
    (LOANS, "GET(request: Request): Promise<Response> {", "GET() {"),
    (
        LOANS,
        "async function GET(request: Request): Promise<Response> {",
        "function GET(request: Request, context: unknown): Response {",
    ),
    (RETURNS, "context: Context", 'context: RouteContext<"/api/loans/[id]/return">'),
    (RETURNS, "context: Context", "{ params }: { params: Promise<{ id: string }> }"),
]
# And what isn't.
CHANGED = [
    (STATUS, LABEL, "const statusLabel = (status: ItemStatus): string => status;\nexport type { statusLabel };"),
    (STATUS, LABEL, "export const statusLabel = (status: ItemStatus): never => { throw new Error(status); };"),
    (STATUS, LABEL, "export const statusLabel: (status: ItemStatus) => any = (status) => status;"),
    (STATUS, LABEL, "export const statusLabel: Function = (status: ItemStatus) => status;"),
    (STATUS, "statusLabel(status: ItemStatus)", 'statusLabel(status: ItemStatus = "overdue")'),
    (STATUS, "statusLabel(status: ItemStatus)", "statusLabel(status: string)"),
    (STATUS, "statusLabel(status: ItemStatus)", "statusLabel(status: ItemStatus, long?: boolean)"),
    (STATUS, "statusLabel(status: ItemStatus)", "statusLabel(status: ItemStatus, ...more: string[])"),
    (STATUS, "statusLabel(status: ItemStatus)", "statusLabel()"),
    (
        STATUS,
        "export function statusLabel",
        "export function statusLabel(status: number): string;\nexport function statusLabel(status: ItemStatus): string;\nexport function statusLabel",
    ),
    (STATUS, LABEL, LABEL + "\nexport namespace statusLabel { export const long = 1; }"),
    (
        STATUS,
        "function dueText(dueOn: DeskDay, at: Date): string",
        "async function dueText(dueOn: DeskDay, at: Date): Promise<string>",
    ),
    (STATUS, 'item: Pick<Item, "inMaintenance">', "item: { inMaintenance: any }"),
    (STATUS, 'openLoan: Pick<Loan, "dueOn"> | null', "openLoan: { dueOn: any } | null"),
    (STATUS, ' | "maintenance";', ";"),
    (STATUS, LABEL, LABEL + '\nexport * from "./filters";'),
    (FILTERS, "params: SearchParams", "params: {}"),
    (FILTERS, "params: SearchParams", "params: Readonly<Record<string, any>>"),
    (FILTERS, "rows: readonly CatalogueRow[]", "rows: CatalogueRow[]"),
    (FILTERS, "rows: readonly CatalogueRow[]", "rows: readonly any[]"),
    (FILTERS, ": CatalogueRow[] {", ": any[] {"),
    (FILTERS, ": CatalogueRow[] {", ": readonly CatalogueRow[] {"),
    (FILTERS, ": CatalogueRow[] {", ": (CatalogueRow & { score: number })[] {"),
    (FILTERS, "  due: string | null;", "  due: string | null;\n  rank?: number;"),
    (FILTERS, "  due: string | null;", "  due: any;"),
    (FILTERS, "  due: string | null;", "  due?: string | null;"),
    (LENDING, "{ ok: true; loan: Loan;", "{ ok: true; loan: any;"),
    (LENDING, "{ ok: true; loan: Loan;", "{ ok: true; loan: Loan; at: string;"),
    (LENDING, "      rule: string;", "      rule: any;"),
    (LENDING, "  note: string;", "  note?: string;"),
    (LENDING, "  note: string;", "  note: string;\n  by?: string;"),
    (
        LENDING,
        LEND,
        'export function lendItem(entry: LendEntry): LendingResult | Promise<LendingResult> { return takeBackItem({ loanId: entry.itemId, condition: "", note: "" }); }',
    ),
    (
        LENDING,
        LEND,
        'export const { lendItem } = { async lendItem(entry: LendEntry & { by: string }): Promise<LendingResult> { return { ok: false, rule: entry.by, field: null, message: "" }; } };',
    ),
    (CARD, "due: string | null;", "due?: string | null;"),
    (CARD, "due: string | null;", "due: string | null;\n  large?: boolean;"),
    (CARD, "(props: ItemCardProps)", "(props: React.PropsWithChildren<ItemCardProps>)"),
    (CARD, "status: ItemStatus;", "status: any;"),
    (CARD, A_CARD, "export const ItemCard: React.FC<any> = () => null;"),
    (CARD, A_CARD, "export function ItemCard(props: ItemCardProps): any {\n  return null;\n}"),
    (CARD, A_CARD, "export const ItemCard = 5;"),
    (CHECKOUT, "readonly MemberOption[]", "readonly any[]"),
    (CHECKOUT, "  label: string;", "  label: any;"),
    (CHECKOUT, "readonly MemberOption[]", "MemberOption[]"),
    (CHECKOUT, "export function CheckoutForm", "export default function CheckoutForm"),
    (PAGE, "export async function generateMetadata", "async function generateMetadata"),
    (PAGE, "Promise<{ id: string }>", "{ id: string }"),
    (PAGE, "Promise<{ id: string }>", "Promise<any>"),
    (PAGE, "Promise<{ id: string }>", "Promise<{ id: number }>"),
    (CATALOGUE, "metadata: Metadata", "metadata: any"),
    (CATALOGUE, "export const metadata", 'export const dynamic = "force-dynamic";\nexport const metadata'),
    (FAILURE, "retry: () => void", "retry: any"),
    (
        LOANS,
        "export async function GET(request: Request): Promise<Response>",
        "export async function GET(request: Request): Promise<any>",
    ),
    (
        LOANS,
        'Request): Promise<Response> {\n  return problem(501, "Not built yet.");',
        "Request) {\n  return new Date();",
    ),
    (RETURNS, "context: Context", "context: Missing"),
]
# What no compiler takes, or none likes. What is found in it is left open; nothing may crash.
ODD = [
    "",
    "const alone = 1;",
    "export = 5;",
    "export function (",
    "}}}} <<<<< `${",
    "\0\ufeff\u2028",
    'export type T = { next: T[] };\nexport const x: T = { next: [] };\nexport * from "./odd_6";\nimport type { T as U } from "./odd_6";\nexport type { U };',
    "type Deep<T> = { a: Deep<T[]>; b: (x: Deep<Promise<T>>) => Deep<[T]> };\nexport declare function statusLabel(status: Deep<any>): Deep<1>;",
    "declare global { interface Response { extra: string } }\nexport {};",
    "export const a = " + "(" * 20_000 + "1" + ")" * 20_000 + ";",
    "export const a = 1" + " + 1" * 2_000 + ";",
    "export function f() " + "{" * 5_000 + "}" * 5_000,
    "export const a = " + "x" * 57 + "\U0001f600\U0001f600!;",
    'const a = 1;\nexport { a as "\\ud800" };',
    "".join(
        f"export function f{n}(x: number) {{ if (x) {{ return [x, x + 1, `${{x}}`]; }} return null; }}\n"
        for n in range(2_000)
    ),
]


def test_each_way_to_write_an_export_is_judged_by_what_callers_see(tmp_path, monkeypatch):
    rows = [*((row, False) for row in KEPT), *((row, True) for row in CHANGED)]
    own, written, charged = tmp_path / "own/app", {}, {}
    for number, ((file, old, new), changed) in enumerate(rows):
        source = (layout.fixture() / "app" / file).read_text("utf-8")
        assert old in source, f"{file} has no {old!r}"
        path = Path(file)
        name = (path.parent / f"case_{number}{path.suffix}").as_posix()
        written[name], charged[name] = source.replace(old, new), changed
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(source, "utf-8")
    for number, source in enumerate(ODD):
        written[f"{ITEMS}/odd_{number}.ts"] = source
        shutil.copy(layout.fixture() / "app" / STATUS, own / f"{ITEMS}/odd_{number}.ts")
    with specimen() as tree, laid_out(tree, tmp_path) as sources:
        for name, source in written.items():
            (sources.tree / name).write_text(source, "utf-8", "replace")
        monkeypatch.setattr(layout, "fixture", lambda: tmp_path / "own")
        found = dict(analysis.compiled(replace(sources, writable=sorted(written)))[0])
    wrong = {name: (written[name], found.get(name)) for name in charged if charged[name] is not (name in found)}
    assert not wrong, "\n\n".join(f"{why}\n{mine}" for mine, why in wrong.values())


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
