"""Both drivers obey one contract: on the same rows the same operations have the same results and effects."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_lendbench.bench import toolchain
from pytest_lendbench.bench.layout import NODE_SOURCES, fixture
from pytest_lendbench.bench.store import Store
from pytest_lendbench.bench.store.state import State
from pytest_lendbench.bench.store.tables import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_lendbench.bench.store.rows import Rows

HOST = Path(__file__).with_name("driver_host.mjs")

ITEMS = st.sampled_from(["it-1", "it-2", "it-3", "it-none"])
MEMBERS = st.sampled_from(["mb-1", "mb-2", "mb-4", "mb-none"])
LOANS = st.sampled_from(["ln-1", "ln-2", "ln-3", "ln-4", "ln-none"])
TEXTS = st.one_of(st.text(max_size=8), st.sampled_from(["", "Ä", "İx", "ΟΔΟΣ", '"\\', "\ud83d", "😀\n"]))
EMAILS = st.sampled_from(["ada@example.org", "ADA@example.org", "bö@example.org", "BÖ@example.org", "c@example.org"])
STATUSES = st.sampled_from(["active", "suspended"])
CLASSES = st.sampled_from(["apprentice", "maker", "steward"])
CONDITIONS = st.sampled_from(["good", "damaged"])
TIMES = st.sampled_from(["2031-11-05T02:10:00.000Z", "2031-11-06T02:10:00.000Z"])

RETURN = {"id": LOANS, "at": TIMES, "staffId": TEXTS, "condition": CONDITIONS, "note": st.none() | TEXTS}
NEW_LOAN = {"itemId": ITEMS, "memberId": MEMBERS, "dueOn": TEXTS, "at": TIMES, "staffId": TEXTS}

ARGUMENTS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "items.list": st.just({}),
    "items.get": st.fixed_dictionaries({"id": ITEMS}),
    "items.count": st.just({}),
    "items.categories": st.just({}),
    "items.setMaintenance": st.fixed_dictionaries({"id": ITEMS, "inMaintenance": st.booleans()}),
    "members.list": st.just({}),
    "members.get": st.fixed_dictionaries({"id": MEMBERS}),
    "members.byIds": st.fixed_dictionaries({"ids": st.lists(MEMBERS, max_size=4)}),
    "members.register": st.fixed_dictionaries({"name": TEXTS, "email": EMAILS, "memberClass": CLASSES, "at": TIMES}),
    "members.changeStatus": st.fixed_dictionaries(
        {"id": MEMBERS, "from": STATUSES, "to": STATUSES, "reason": st.none() | TEXTS}
    ),
    "loans.list": st.fixed_dictionaries({}, optional={"itemId": ITEMS, "memberId": MEMBERS, "open": st.booleans()}),
    "loans.get": st.fixed_dictionaries({"id": LOANS}),
    "loans.create": st.fixed_dictionaries(NEW_LOAN),
    "loans.close": st.fixed_dictionaries(RETURN),
    "loans.checkOut": st.fixed_dictionaries({**NEW_LOAN, "limit": st.integers(0, 3)}),
    "loans.checkIn": st.fixed_dictionaries(RETURN),
    "loans.burn": st.just({}),
    "toString": st.just({}),
}


@st.composite
def operation(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    name = draw(st.sampled_from(sorted(ARGUMENTS)))
    return name, draw(ARGUMENTS[name])


def table(ids: list[str], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Rows with some of these ids, in any order."""
    return (
        st.permutations(ids)
        .flatmap(
            lambda some: st.integers(0, len(ids)).flatmap(
                lambda count: st.tuples(
                    *[st.fixed_dictionaries({"id": st.just(row_id), **fields}) for row_id in some[:count]]
                )
            )
        )
        .map(list)
    )


ROWS = st.fixed_dictionaries(
    {
        "items": table(
            ["it-1", "it-2", "it-3"],
            name=TEXTS,
            category=st.sampled_from(["Garden", "Paper"]),
            description=TEXTS,
            shelf=TEXTS,
            loanDays=st.integers(1, 28),
            inMaintenance=st.booleans(),
            serialNumber=TEXTS,
            purchasePriceCents=st.integers(0, 10**9),
        ),
        "members": table(
            ["mb-1", "mb-2", "mb-4"],
            name=TEXTS,
            email=EMAILS,
            memberClass=CLASSES,
            status=STATUSES,
            suspensionReason=st.none() | TEXTS,
            joinedAt=TIMES,
            privateNote=TEXTS,
        ),
        "loans": table(
            ["ln-1", "ln-2", "ln-4"],
            itemId=ITEMS,
            memberId=MEMBERS,
            checkedOutAt=TIMES,
            dueOn=TEXTS,
            checkedOutBy=TEXTS,
            returnedAt=st.none() | TIMES,
            returnedBy=st.none() | TEXTS,
            condition=st.none() | CONDITIONS,
            note=st.none() | TEXTS,
        ),
    }
)


class DriverHost:
    """A Node process that has both drivers, and the store behind one of them."""

    def __init__(self, process: subprocess.Popen[str], store: Store) -> None:
        self._process = process
        self.store = store

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return cast("dict[str, Any]", json.loads(self._process.stdout.readline()))


@contextmanager
def driver_host(folder: Path, *, preload: bool, **environment: str) -> Iterator[DriverHost]:
    tools = toolchain.provide(print)
    shutil.copytree(fixture() / "app" / "src" / "db", folder / "db")
    shutil.copy(NODE_SOURCES / "driver.ts", folder / "db" / "driver.ts")
    store = Store()
    with store.run(State.invite) as theirs:
        ours = ["--import", str(NODE_SOURCES / "preload.mjs")] if preload else []
        process = subprocess.Popen(
            [str(tools.node), *ours, str(HOST), str(tools.node_modules), str(folder / "db")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": os.defpath, "LENDBENCH_STORE_FD": str(theirs.fileno()), **environment},
            pass_fds=[theirs.fileno()],
        )
    try:
        with process:
            yield DriverHost(process, store)
            assert process.stdin is not None
            process.stdin.close()
            store.disconnect()
    finally:
        store.close()


@pytest.fixture(scope="module")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DriverHost]:
    with driver_host(tmp_path_factory.mktemp("drivers"), preload=True) as host:
        yield host


def test_the_contract_covers_every_operation() -> None:
    assert ARGUMENTS.keys() > OPERATIONS


@settings(max_examples=200, deadline=None)
@given(rows=ROWS, operations=st.lists(operation(), max_size=12))
def test_both_drivers_have_the_same_results_and_leave_the_same_rows(
    drivers: DriverHost, rows: Rows, operations: list[tuple[str, dict[str, Any]]]
) -> None:
    in_memory = drivers.ask({"rows": rows, "operations": operations})
    drivers.store.seed(items=rows["items"], members=rows["members"], loans=rows["loans"])
    through_store = drivers.ask({"operations": operations})
    assert through_store["results"] == in_memory["results"]
    for name in ("items", "members", "loans"):
        assert drivers.store.rows(name) == in_memory["rows"][name]
    assert [(operation.name, operation.args) for operation in drivers.store.trace] == [tuple(one) for one in operations]


def test_an_unknown_operation_fails_in_both(drivers: DriverHost) -> None:
    operations = [["loans.burn", {}]]
    rows: Rows = {"items": [], "members": [], "loans": []}
    expected = [{"error": "Unknown store operation: loans.burn"}]
    assert drivers.ask({"rows": rows, "operations": operations})["results"] == expected
    assert drivers.ask({"operations": operations})["results"] == expected


def test_malformed_arguments_are_an_error_of_the_app_and_not_of_the_store(drivers: DriverHost) -> None:
    drivers.store.seed()
    results = drivers.ask({"operations": [["members.register", {"email": 5}], ["items.count", None]]})["results"]
    assert ["malformed" in results[0]["error"], "must be an object" in results[1]["error"]] == [True, True]
    assert drivers.ask({"operations": [["items.count", {}]]})["results"] == [{"value": 0}]


def test_a_build_reads_the_seed_and_needs_no_store(tmp_path: Path) -> None:
    with driver_host(tmp_path, preload=False, NEXT_PHASE="phase-production-build") as host:
        asked = host.ask({"operations": [["items.count", {}], ["members.count", {}]]})["results"]
    assert asked[0]["value"] > 10
    assert asked[1] == {"error": "Unknown store operation: members.count"}


def test_a_server_without_the_preload_says_so(tmp_path: Path) -> None:
    with driver_host(tmp_path, preload=False) as host:
        asked = host.ask({"operations": [["items.count", {}]]})["results"]
    assert asked == [{"error": "This server was started without its store."}]
