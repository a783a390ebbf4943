"""What was expected and what happened, out of the message of a failed check."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.faces.wording import Wording, parts

LOG = 'Call log:\n  - Expect "to_be_visible" get_by_label("Due day") with timeout 400ms'


def test_two_values_stand_beside_each_other() -> None:
    assert parts("both desks lent the drill\nassert 2 == 1\n +  where 2 = len([…])") == Wording(
        "both desks lent the drill", "1", "2", rest=" +  where 2 = len([…])"
    )


def test_a_comparison_that_could_be_read_in_two_ways_is_left_whole() -> None:
    message = "the text\nassert 'a == b' == 'a'"
    assert parts(message) == Wording("the text", rest="assert 'a == b' == 'a'")


def test_a_locator_that_is_not_there() -> None:
    message = (
        f'get_by_label("Due day") is expected to be visible\nActual value: None\nError: element(s) not found \n{LOG}'
    )
    found = parts(message)
    assert (found.expected, found.actual) == ('get_by_label("Due day") to be visible', "element(s) not found")
    assert found.rest == LOG
    tried = 'Locator.fill: Timeout 400ms exceeded.; Call log:; - waiting for get_by_label("Due day")'
    assert parts(tried).reason == found.reason == 'get_by_label("Due day") is not on the page'


def test_a_locator_that_shows_something_else() -> None:
    found = parts(f"get_by_role(\"status\") is expected to have text 'Done'\nActual value: Wait\n{LOG}")
    assert (found.expected, found.actual) == ("get_by_role(\"status\") to have text 'Done'", "Wait")
    assert not found.missing


def test_an_action_that_more_is_known_of_keeps_its_words() -> None:
    message = (
        "Locator.fill: Timeout 400ms exceeded.; Call log:; - waiting for x; - locator resolved to <input disabled>"
    )
    assert parts(message) == Wording(message)


def test_nothing_is_something() -> None:
    assert parts(" \n").lead == "(no reason given)"


@given(st.text())
def test_any_message_has_a_reason(message: str) -> None:
    assert parts(message).reason.strip()
