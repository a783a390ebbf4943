"""Odd input: from an address, from a request's body, from the store."""

import pytest

from pytest_lendbench.bench.store import a_loan, a_member, an_item
from pytest_lendbench.rules.claims import only

pytestmark = [pytest.mark.domain(name="P"), pytest.mark.usefixtures("scene")]

IMKE = "st-imke"
MARKUP = '<img src="x" onerror="alert(1)"> & <script>alert(2)</script> "\'`${x} $&'


@pytest.mark.probe(
    id="P.odd-query",
    tier=1,
    why="Addresses are typed, shared and guessed. A parameter can be repeated, empty, huge or no text at all.",
)
def test_odd_parameters_of_the_catalogue_are_answered(visit):
    assert visit("/items?q=tent").names() == ["Tent"]
    for query in ("q=(", "q=[", "q=%5C", "q=a&q=b", "status=toString", "category=__proto__", "q=%F0%9F%AA%9A", "x=1"):
        assert "of 4 items" in visit(f"/items?{query}").text, f"?{query} does not show the catalogue"
    assert visit("/items?q=" + "a" * 4000).names() == []


@pytest.mark.probe(
    id="P.markup",
    tier=1,
    why="Names are written by people. Put into a page as markup, they run as its code.",
)
def test_markup_in_names_is_text(store, visit):
    store.seed(
        items=[an_item(id="it-1", name=f"Lamp {MARKUP}", description=f"Bright {MARKUP}", category=f"Light {MARKUP}")],
        members=[a_member(id="mb-1", name=f"Ines {MARKUP}")],
        loans=[a_loan(itemId="it-1", memberId="mb-1", returnedAt="2031-11-03T15:00:00.000Z", condition="good")],
    )
    catalogue, item = visit("/items"), visit("/items/it-1", staff=IMKE)
    words = " ".join(MARKUP.split())
    assert only(catalogue.names(), "card") == f"Lamp {words}"
    for shown in ("Lamp", "Bright", "Light", "Ines"):
        assert f"{shown} {words}" in item.text, f"{shown} {words} is not on the page: {item.text}"
    assert item.title == f"Lamp {words} · Lending Desk"
    for page in (catalogue, item):
        assert page.soup.find("img", src="x") is None, "a name has become an element of the page"


@pytest.mark.probe(
    id="P.odd-text",
    tier=2,
    why="Texts come in all lengths and scripts. Cutting or counting them by code units breaks them.",
)
def test_long_and_foreign_texts_are_shown_whole(store, visit, desk):
    foreign = "👩🏽‍🔧 Ёлка שלום 工具 é"
    long = "Tools of all kinds. " * 500
    store.seed(
        items=[an_item(id="it-1", name=foreign, description=long, shelf="\u202eZ9", category="עברית")],
        members=[a_member(id="mb-1")],
        loans=[a_loan(id="ln-1", itemId="it-1", memberId="mb-1")],
    )
    assert visit("/items").names() == [foreign]
    assert long.strip() in visit("/items/it-1").text
    half = desk.request(
        "POST",
        "/api/loans/ln-1/return",
        content=b'{"condition": "good", "note": "half a character: \\ud83d"}',
        headers={"content-type": "application/json"},
        staff=IMKE,
    )
    assert half.status < 500, f"a note with half a surrogate pair is answered {half.status}: {half.text[:200]}"


@pytest.mark.probe(
    id="P.prototype-names",
    tier=2,
    why="An object used as a dictionary already has keys: a row that is called like one finds what isn't there.",
)
def test_rows_may_be_called_like_what_every_object_has(store, visit, desk):
    names = ["constructor", "toString", "__proto__", "hasOwnProperty"]
    store.seed(
        items=[an_item(id=name, name=f"Item {name}", category=name) for name in names],
        members=[a_member(id="constructor", name="Ines Abara")],
    )
    cards = {card.name: card.text for card in visit("/items").cards()}
    assert cards.keys() == {f"Item {name}" for name in names}
    assert all("Available" in text for text in cards.values()), {name: str(text) for name, text in cards.items()}
    assert visit("/items?category=__proto__").names() == ["Item __proto__"]
    assert "Never lent." in visit("/items/constructor", staff=IMKE).text
    lent = desk.post_json("/api/loans", {"itemId": "toString", "memberId": "constructor"}, staff=IMKE)
    assert lent.status == 201, lent.text
    assert "Ines Abara" in visit("/items/toString", staff=IMKE).text
    assert "On loan" in {card.name: card.text for card in visit("/items").cards()}["Item toString"]


@pytest.mark.probe(
    id="P.hostile-json",
    tier=2,
    why="A body can hold anything that JSON can: names that every object has, and depths that no form makes.",
)
def test_odd_bodies_are_refused_and_the_server_lives(store, desk):
    before = store.rows("loans")
    give_back = "/api/loans/ln-tent/return"
    deep = b'{"condition": ' + b"[" * 5000 + b"]" * 5000 + b"}"
    cases = [
        (give_back, b'{"__proto__": {"condition": "good"}}', 422),
        (give_back, b'{"condition": "constructor"}', 422),
        (give_back, b'{"condition": "Good"}', 422),
        (give_back, deep, 400),
        ("/api/loans", b'{"itemId": "__proto__", "memberId": "constructor"}', 404),
        ("/api/loans", b'{"itemId": "it-drill", "memberId": ["mb-ines"]}', 400),
    ]
    for path, body, status in cases:
        answer = desk.request("POST", path, content=body, headers={"content-type": "application/json"}, staff=IMKE)
        assert answer.status == status, f"{body[:60]!r} to {path} answered {answer.status}: {answer.text[:200]}"
    assert store.rows("loans") == before
    assert desk.get("/api/loans", staff=IMKE).status == 200


@pytest.mark.probe(
    id="P.large-body",
    tier=2,
    why="A field can be a million characters long. It is refused by the rule, before it reaches the store.",
)
def test_a_note_of_a_megabyte_is_refused_by_the_rule(store, desk):
    # Blanks in the middle: an expression that looks for those at the end may try each anew.
    long = f"x{' ' * 1_000_000}x"
    asked = len(store.trace)
    answer = desk.post_json("/api/loans/ln-tent/return", {"condition": "good", "note": long}, staff=IMKE)
    assert answer.status in {413, 422}, f"answered {answer.status}: {answer.text[:200]}"
    assert [operation.name for operation in store.trace[asked:]] == []
    accepted = desk.post_json("/api/loans/ln-tent/return", {"condition": "good", "note": "x"}, staff=IMKE)
    assert accepted.status == 200, accepted.text
