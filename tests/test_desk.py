"""The HTTP client: every request on its own, every answer whole, and what is no answer is told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from pytest_lendbench.bench.store import a_member, an_item
from pytest_lendbench.rules.errors import CandidateFault

if TYPE_CHECKING:
    from scheduler_bench import Bench

pytest_plugins = ["scheduler_bench"]


@dataclass(frozen=True)
class Captured:
    method: str
    url: str
    headers: dict[str, str]
    body: bytes


def captured_action(bench: Bench) -> Captured:
    """What a browser sends when the form of the scheduler app is submitted."""
    page = bench.desk.get("/act/naive").text
    action = page.partition("$ACTION_ID_")[2].partition('"')[0]
    fields = {"_1_style": "naive", "_1_itemId": "it-1", "_1_memberId": "mb-1", "0": '["$K1"]'}
    lines = [f'--x\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{fields[key]}\r\n' for key in fields]
    headers = {
        "accept": "text/x-component",
        "accept-encoding": "gzip, deflate, br",
        "content-type": "multipart/form-data; boundary=x",
        "next-action": action,
        "origin": bench.server.url,
    }
    return Captured("POST", f"{bench.server.url}/act/naive", headers, ("".join(lines) + "--x--\r\n").encode())


def test_a_captured_action_can_be_replayed_by_anyone_with_other_ids(bench: Bench) -> None:
    bench.store.seed(items=[an_item()], members=[a_member(), a_member(id="mb-2")])
    captured = captured_action(bench)
    assert bench.desk.replay(captured).status == 200
    bench.store.seed(items=[an_item(id="it-7")], members=[a_member(id="mb-2")])
    answer = bench.desk.replay(captured, staff="st-imke", replace={"it-1": "it-7", "mb-1": "mb-2"})
    assert answer.status == 200
    assert [(loan["itemId"], loan["memberId"]) for loan in bench.store.rows("loans")] == [("it-7", "mb-2")]
    with pytest.raises(ValueError, match="holds no 'it-9'"):
        bench.desk.prepare_replay(captured, replace={"it-9": "it-1"})


def test_replayed_actions_can_race(bench: Bench) -> None:
    bench.store.seed(items=[an_item()], members=[a_member(), a_member(id="mb-2")])
    captured = captured_action(bench)
    bench.store.race(
        bench.desk.prepare_replay(captured),
        bench.desk.prepare_replay(captured, replace={"mb-1": "mb-2"}),
    )
    assert [loan["memberId"] for loan in bench.store.rows("loans")] == ["mb-1", "mb-2"]


def test_what_is_no_json_is_shown(bench: Bench) -> None:
    with pytest.raises(CandidateFault, match=r"GET /wild answered 200 with something that is no JSON: '\"PATH"):
        bench.desk.get("/wild").json()


def test_staff_is_signed_in_by_a_cookie_of_this_server(bench: Bench) -> None:
    signed_in = bench.desk.get("/whoami", staff="st-nkechi").json()
    assert signed_in == {"staff": "st-nkechi", "tagged": False}
    assert bench.desk.get("/whoami").json()["staff"] is None
    forged = bench.server.staff_cookie("st-imke").replace("st-imke", "st-tomas")
    assert bench.desk.get("/whoami", headers={"cookie": forged}).json()["staff"] is None


def test_redirects_are_answers(bench: Bench) -> None:
    answer = bench.desk.get("/pages/ab/nothing/")
    assert (answer.status, answer.headers["location"]) == (308, "/pages/ab/nothing")


def test_a_request_can_be_sent_again_with_a_new_tag(bench: Bench) -> None:
    request = bench.desk.prepare("GET", "/pages/ab/nothing")
    first, second = bench.desk.send(request), bench.desk.send(request)
    assert first.tag != second.tag
    assert bench.store.asked(first.tag) == bench.store.asked(second.tag)


def test_a_large_answer_is_received_while_the_request_is_open(bench: Bench) -> None:
    with bench.store.held("items.count") as held, bench.desk.opening("/large") as opening:
        received = opening.received_text()
        assert (len(received), received[-1]) == (3_000_000, "é")
        assert held.waiting == {"items.count"}
        held.release()
        assert opening.finish().text.endswith("é0")
        assert opening.received_text().endswith("é0")
