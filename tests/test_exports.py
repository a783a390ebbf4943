"""The contract's exports, by the real compiler."""
# ruff: noqa: E501 (sources stand as they are written)

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from laying_out import APP, ITEMS, append, edit, laid_out

from pytest_lendbench.bench import analysis, layout
from pytest_lendbench.bench.specimen import specimen


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
