"""Odd input that reaches a page from its address."""

import pytest

pytestmark = [pytest.mark.domain(name="P"), pytest.mark.usefixtures("scene")]


@pytest.mark.probe(
    id="P.odd-query",
    tier=1,
    why="Addresses are typed, shared and guessed. A parameter can be repeated, empty, huge or no text at all.",
)
def test_odd_parameters_of_the_catalogue_are_answered(visit):
    assert visit("/items?q=tent").names() == ["Tent"]
    for query in ("q=(", "q=[", "q=%5C", "q=a&q=b", "status=toString", "category=__proto__", "q=%F0%9F%AA%9A", "x=1"):
        visit(f"/items?{query}")
    assert visit("/items?q=" + "a" * 4000).names() == []
