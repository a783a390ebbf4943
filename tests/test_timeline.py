"""The picture of what the store was asked for."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.faces.timeline import MOST, picture
from pytest_lendbench.rules.evidence import Event


def event(
    seq: int, tag: str, asked: int, answered: int | None, name: str = "items.list", *, held: bool = False
) -> Event:
    after = None if answered is None else float(answered)
    return Event(seq, tag, f"GET /{tag}" if tag else "", name, "{}", float(asked), asked, after, answered, held=held)


def test_requests_have_lanes_and_operations_bars_in_the_order_of_steps() -> None:
    shown = picture([event(1, "t1", 0, 2, held=True), event(2, "t2", 1, 3), event(3, "t1", 4, None, "loans.checkOut")])
    assert shown is not None
    assert [lane.label for lane in shown.lanes] == ["t1 GET /t1", "t2 GET /t2"]
    (one, three), (two,) = (lane.bars for lane in shown.lanes)
    assert one.x < two.x < one.end < two.end < three.x
    assert three.end == 98
    assert (one.kind, three.kind) == ("read held", "write open")
    assert shown.summary == "t1 GET /t1: items.list (held), loans.checkOut. t2 GET /t2: items.list."


def test_what_a_list_tells_as_well_has_no_picture() -> None:
    assert picture([]) is None
    assert picture([event(1, "t1", 0, None, held=True)]) is None
    assert picture([event(1, "t1", 0, 1), event(2, "t1", 2, 3)]) is None
    assert picture([event(1, "t1", 0, 1), event(2, "t1", 2, None), event(3, "t1", 3, None)]) is not None


@given(st.lists(st.tuples(st.sampled_from(["t1", "t2", ""]), st.integers(0, 500), st.integers(0, 500) | st.none())))
def test_it_never_leaves_its_frame(told: list[tuple[str, int, int | None]]) -> None:
    events = [
        event(seq, tag, asked, None if more is None else asked + more) for seq, (tag, asked, more) in enumerate(told, 1)
    ]
    shown = picture([replace(one, held=True) for one in events])
    if shown is not None:
        bars = [bar for lane in shown.lanes for bar in lane.bars]
        assert len(bars) == min(len(events), MOST) == len(events) - shown.left_out
        assert all(0 <= bar.x <= bar.end <= 100 and 0 <= bar.y < shown.height for bar in bars)
