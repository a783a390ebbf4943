"""B. The item card: `src/items/item-card.tsx`, rendered alone."""

from collections import Counter

import pytest

from pytest_lendbench.bench.document import Document
from pytest_lendbench.bench.store import an_item
from pytest_lendbench.rules.claims import only

pytestmark = [pytest.mark.domain(name="B"), pytest.mark.weight(points=0.25)]

KETTLE = {"id": "it-kettle", "name": "Camping kettle", "category": "Outdoors", "shelf": "B2"}


@pytest.fixture
def card(unit):
    """Renders a card and returns what it says; keyword arguments change the kettle."""

    def render(*, status="available", due=None, **changes):
        props = {"item": KETTLE | changes, "status": status, "due": due}
        return only(Document(unit.render("src/items/item-card.tsx", "ItemCard", props)).cards(), "article")

    return render


@pytest.mark.check(id="B.heading", tier=0, spec="B.1")
def test_a_card_is_an_article_headed_by_the_items_name(card):
    assert card().name == "Camping kettle"


@pytest.mark.check(id="B.link", tier=0, spec="B.2")
def test_the_name_leads_to_the_item_whatever_its_id_holds(card):
    assert card().href == "/items/it-kettle"
    assert card(status="overdue", due="3 days late").link_name == "Camping kettle"
    assert card(id="a/b c?d").href == "/items/a%2Fb%20c%3Fd"


@pytest.mark.check(id="B.facts", tier=0, spec="B.3")
def test_a_card_shows_category_shelf_and_status(card):
    text = card(status="maintenance").text
    for words in ("Outdoors", "Shelf B2", "In maintenance"):
        assert words in text, f"{words!r} is not in the card: {text}"


@pytest.mark.check(id="B.due", tier=0, spec="B.4")
def test_a_card_shows_the_due_text_or_nothing_in_its_place(card):
    assert "3 days late" in card(status="overdue", due="3 days late").text
    without = str(card(due=None).text)
    assert not any(stray in without for stray in ("null", "undefined", "Due", "NaN")), without
    with_due = str(card(due="3 days late").text)
    assert not Counter(without) - Counter(with_due), f"in place of a due text stands something else: {without}"


@pytest.mark.check(id="B.literal", tier=0, spec="B.5")
def test_texts_are_shown_literally(card):
    shown = card(name="Jack & Jill's <b>saw</b> 🪚", category="<i>Tools</i>")
    assert shown.name == "Jack & Jill's <b>saw</b> 🪚"
    assert "<i>Tools</i>" in shown.text
    typed = 'Sawhorse 2x4 -- 3/4" (c) ...'
    assert card(name=typed).name == typed


@pytest.mark.check(id="B.seen", tier=1, spec="B.3, B.5")
@pytest.mark.weight(points=1)
def test_what_a_card_says_is_seen_as_it_is_on_a_wide_and_on_a_narrow_screen(store, visitor):
    store.seed(items=[an_item(name="mcQueen's lamp", category="iPad & co", shelf="a-Bc")])
    seen = visitor.page.get_by_role("article")
    visitor.open("/items")
    for width in (1280, 320):
        visitor.page.set_viewport_size({"width": width, "height": 640})
        for words in ("mcQueen's lamp", "iPad & co", "Shelf a-Bc", "Available"):
            visitor.expect(seen).to_contain_text(words, use_inner_text=True)
