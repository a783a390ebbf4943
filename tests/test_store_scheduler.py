"""The scheduler's verdicts are right whatever stands between the reads, and whatever else the machine does."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal

import pytest

from pytest_lendbench.bench.store import a_member, an_item

if TYPE_CHECKING:
    from scheduler_bench import Bench

    from pytest_lendbench.bench.request import Request

pytest_plugins = ["scheduler_bench"]

BARRIERS = [
    "nothing",
    "immediate",
    "busy",
    "timer",
    "timer-chain",
    "child",
    "file",
    "lookup",
    "scrypt",
    "scrypt-twice",
    "subtle",
    "zlib",
    "guarded",
    "interval",
]
BOTH = {"items.count", "items.categories"}
SWEEPS = 2

RIGHT = ["atomic", "atomic-only", "mutex", "recheck"]
WRONG = ["naive", "naive-slow"]
RACES = 4


@pytest.mark.parametrize("shell", ["", "?shell"], ids=["whole page", "Suspense"])
@pytest.mark.parametrize("order", ["ab", "ba", "seq"])
def test_parallel_reads_are_told_from_sequential_ones(bench: Bench, machine: str, order: str, shell: str) -> None:
    for barrier in BARRIERS * SWEEPS:
        bench.store.seed(items=[an_item()])
        path = f"/pages/{order}/{barrier}{shell}"
        with bench.store.held(*BOTH) as held, bench.desk.opening(path) as opening:
            bench.store.settle()
            expected = {"items.categories"} if order == "seq" else BOTH
            assert held.waiting == expected, f"{barrier} on a {machine} machine"
            received = opening.received_text()
            assert ("The shell" in received) is bool(shell), f"{barrier} on a {machine} machine"
            held.release()
            answer = opening.finish()
        assert "1 of 1" in answer.text
        assert sorted(bench.store.asked(answer.tag)) == sorted(BOTH)


def lend(bench: Bench, way: str, *, by: str, member: str) -> Request:
    """A request to lend the one item to a member, through a route handler or as a browser would call an action."""
    if by == "api":
        return bench.desk.prepare("POST", f"/race/{way}", json={"itemId": "it-1", "memberId": member})
    page = bench.desk.get(f"/act/{way}").text
    action = page.partition("$ACTION_ID_")[2].partition('"')[0]
    fields = {"_1_style": way, "_1_itemId": "it-1", "_1_memberId": member, "0": '["$K1"]'}
    parts = {name: (None, value) for name, value in fields.items()}
    return bench.desk.prepare("POST", f"/act/{way}", headers={"next-action": action}, files=parts)


def seed_desk(bench: Bench) -> None:
    bench.store.seed(items=[an_item()], members=[a_member(id="mb-1"), a_member(id="mb-2")])


@pytest.mark.parametrize("by", ["api", "action"])
@pytest.mark.parametrize("way", [*RIGHT, *WRONG])
def test_a_race_finds_two_loans_exactly_where_the_code_may_write_two(
    bench: Bench, machine: str, way: str, by: str
) -> None:
    firsts: list[Literal[0, 1]] = [0, 1]
    for first in firsts * (RACES // 2):
        seed_desk(bench)
        one, other = (lend(bench, way, by=by, member=member) for member in ("mb-1", "mb-2"))
        answers = bench.store.race(one, other, first=first)
        borrowers = [loan["memberId"] for loan in bench.store.rows("loans") if loan["returnedAt"] is None]
        assert len(borrowers) == (1 if way in RIGHT else 2), f"{way} on a {machine} machine: {bench.store.trace}"
        if by == "api":
            statuses = sorted(answer.status for answer in answers)
            assert statuses == ([201, 409] if way in RIGHT else [201, 201])
        if way == "atomic-only":
            assert borrowers == [("mb-1", "mb-2")[first]]


def test_each_operation_of_a_race_belongs_to_the_request_that_caused_it(bench: Bench) -> None:
    for way, by in itertools.product(["naive", "naive-slow", "mutex", "recheck"], ["api", "action"]):
        seed_desk(bench)
        answers = bench.store.race(*(lend(bench, way, by=by, member=member) for member in ("mb-1", "mb-2")))
        tags = {answers[0].tag: "mb-1", answers[1].tag: "mb-2"}
        created = [operation for operation in bench.store.trace if operation.name == "loans.create"]
        assert created
        assert all(tags[operation.tag or ""] == operation.args["memberId"] for operation in created)


def test_after_a_race_nothing_is_held(bench: Bench) -> None:
    seed_desk(bench)
    bench.store.race(*(lend(bench, "naive", by="api", member=member) for member in ("mb-1", "mb-2")))
    assert "1 of 1" in bench.desk.get("/pages/ab/nothing").text


def test_a_request_of_the_server_to_itself_is_waited_for(bench: Bench, machine: str) -> None:
    for _ in range(20):
        bench.store.seed(items=[an_item()])
        with bench.store.held(*BOTH) as held, bench.desk.opening("/inner") as opening:
            bench.store.settle()
            assert held.waiting == BOTH, f"on a {machine} machine"
            assert {operation.tag for operation in held.operations} == {opening.tag}
            assert bench.store.open_requests(opening.tag) == 1
            held.release()
            assert opening.finish().status == 200


def test_a_timer_that_guards_a_read_is_not_waited_for(bench: Bench) -> None:
    bench.store.seed(items=[an_item()])
    with bench.store.held("items.count") as held, bench.desk.opening("/pages/ab/guarded") as opening:
        bench.store.settle()
        assert held.waiting == {"items.count"}
        held.release()
        assert "too late" not in opening.finish().text
