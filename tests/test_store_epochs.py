"""Seeds, holds and failures: what a check's author may rely on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from pytest_lendbench.bench.store import CANARY, a_loan, a_member, an_item
from pytest_lendbench.rules.errors import CandidateFault, InstrumentError

if TYPE_CHECKING:
    from scheduler_bench import Bench

pytest_plugins = ["scheduler_bench"]

PAGE = "/pages/ab/nothing"


def visit_with(tag: str, bench: Bench) -> str:
    """What a browser gets whose requests carry this tag."""
    return httpx.get(bench.server.url + PAGE, headers={"x-lendbench-tag": tag}).text


def test_a_failure_lasts_until_it_is_undone(bench: Bench) -> None:
    with bench.store.fail("items.count") as failure:
        failed = bench.desk.get(PAGE)
        assert failed.status == 500
        assert CANARY not in failed.text
        failure.undo()
        assert bench.desk.get(PAGE).status == 200
    assert bench.desk.get(PAGE).status == 200


def test_two_failures_of_one_operation_are_undone_one_by_one(bench: Bench) -> None:
    with bench.store.fail("items.count"):
        with bench.store.fail("items.count", "items.categories"):
            pass
        assert bench.desk.get(PAGE).status == 500
    assert bench.desk.get(PAGE).status == 200


def test_an_operation_that_is_held_can_still_be_made_to_fail(bench: Bench) -> None:
    with bench.store.held("items.count") as held, bench.desk.opening(PAGE) as opening:
        bench.store.settle()
        bench.store.fail("items.count")
        held.release()
        assert opening.finish().status == 500


def test_a_hold_without_names_keeps_everything(bench: Bench) -> None:
    with bench.store.held() as held, bench.desk.opening(PAGE):
        bench.store.settle()
        assert held.waiting == {"items.count", "items.categories"}


def test_what_two_holds_cover_waits_until_both_are_released(bench: Bench) -> None:
    outer, inner = bench.store.hold("items.count"), bench.store.hold("items.count", "items.categories")
    with bench.desk.opening(PAGE) as opening:
        bench.store.settle()
        assert [outer.waiting, inner.waiting] == [{"items.count"}, {"items.categories"}]
        outer.release()
        assert inner.waiting == {"items.count", "items.categories"}
        inner.release()
        assert opening.finish().status == 200


def test_a_released_hold_keeps_nothing_any_more(bench: Bench) -> None:
    held = bench.store.hold("items.count")
    held.release()
    held.release()
    assert bench.desk.get(PAGE).status == 200
    assert held.waiting == set()


def test_held_operations_are_those_that_wait_in_their_order_with_arguments(bench: Bench) -> None:
    with bench.store.held("items.setMaintenance") as held:
        answer = bench.desk.get("/wild?how=late")
        bench.store.settle()
        (waiting,) = held.operations
    assert (waiting.name, waiting.args, waiting.tag) == (
        "items.setMaintenance",
        {"id": "it-1", "inMaintenance": True},
        answer.tag,
    )
    assert bench.store.asked(answer.tag) == ["items.count", "items.setMaintenance"]


def test_what_an_earlier_epoch_left_behind_neither_writes_nor_counts_nor_blocks(bench: Bench) -> None:
    bench.store.seed(items=[an_item()])
    bench.store.hold("items.count")
    bench.desk.get("/wild?how=late")
    bench.store.settle()
    bench.store.seed(items=[an_item()])
    with bench.store.held("items.setMaintenance") as held:
        bench.store.settle()
        assert held.waiting == set()
        assert bench.store.trace == ()
        assert bench.store.requests == ()
        assert bench.store.rows("items") == [an_item()]


def test_a_page_of_this_test_is_served_with_the_latest_seed(bench: Bench) -> None:
    tag = bench.store.new_tag()
    bench.store.seed(items=[an_item()])
    assert "1 of 1" in visit_with(tag, bench)
    assert bench.store.asked(tag) == ["items.categories", "items.count"]


def test_a_page_of_an_earlier_test_is_late_whenever_it_asks(bench: Bench) -> None:
    tag = bench.store.new_tag()
    bench.store.seed(items=[an_item()])
    bench.store.begin()
    bench.store.seed(items=[an_item(id="it-1"), an_item(id="it-2")])
    assert "1 of 1" in visit_with(tag, bench)
    assert bench.store.trace == ()


def test_the_requests_of_an_epoch_are_seen_with_their_ends(bench: Bench) -> None:
    answer = bench.desk.get("/inner")
    with bench.store.held("items.count"), bench.desk.opening(PAGE) as opening:
        bench.store.settle()
    seen = [(request.tag, request.url, request.inner, request.state) for request in bench.store.requests]
    assert seen[:2] == [(answer.tag, "/inner", False, "finished"), (answer.tag, "/echo", True, "finished")]
    assert seen[2][:3] == (opening.tag, PAGE, False)


def test_rows_and_their_builders_are_copies(bench: Bench) -> None:
    item = an_item()
    bench.store.seed(items=[item], members=[a_member()], loans=[a_loan()])
    item["name"] = "Another"
    bench.store.rows("items")[0]["name"] = "Yet another"
    assert bench.store.rows("items") == [an_item()]
    assert (a_loan()["itemId"], a_loan()["memberId"]) == (an_item()["id"], a_member()["id"])


def test_mistakes_of_a_check_are_named(bench: Bench) -> None:
    with pytest.raises(TypeError, match="No such field: loan_days"):
        an_item(loan_days=3)
    with pytest.raises(ValueError, match="Ids must differ: it-1, it-1"):
        bench.store.seed(items=[an_item(), an_item()])
    with pytest.raises(ValueError, match=r"No such operation: items\.lsit"):
        bench.store.hold("items.lsit")
    with pytest.raises(ValueError, match=r"No such operation: items\.lsit"):
        bench.store.fail("items.lsit")


def test_a_check_that_waits_for_what_it_holds_is_no_fault_of_the_candidate(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_lendbench.bench.store.state.LOOK_S", 0.2)
    with bench.store.held("items.count"), pytest.raises(InstrumentError, match=r"holds items\.count"):
        bench.desk.get(PAGE)


def test_a_request_that_nothing_can_answer_any_more_is_the_candidates_fault(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_lendbench.bench.store.state.LOOK_S", 0.2)
    monkeypatch.setattr("pytest_lendbench.bench.store.race.LOOK_S", 0.2)
    never = bench.desk.prepare("GET", "/wild?how=never")
    with pytest.raises(CandidateFault, match=r"how=never: no answer"):
        bench.desk.send(never)
    with pytest.raises(CandidateFault, match=r"how=never and GET /wild\?how=never: no answer"):
        bench.store.race(never, never)
    assert bench.desk.get(PAGE).status == 200
