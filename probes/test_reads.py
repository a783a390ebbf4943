"""What a visit asks the store for."""

from collections import Counter

import pytest

from pytest_lendbench.bench.document import Document
from pytest_lendbench.bench.store import READS, WRITES, a_loan, a_member, an_item

pytestmark = pytest.mark.domain(name="P")

IMKE = "st-imke"


@pytest.fixture
def asked(store, desk):
    """What one visit asks the store for: how often each operation."""

    def visit(path, staff=None):
        before = len(store.trace)
        answer = desk.get(path, staff=staff)
        assert answer.status == 200, f"GET {path} answered {answer.status}"
        return Counter(operation.name for operation in store.trace[before:])

    return visit


def many_items(count):
    return [an_item(id=f"it-{n:03}", name=f"Lamp {n:03}") for n in range(count)]


@pytest.mark.probe(
    id="P.n-plus-one",
    tier=2,
    why="A read for each card works with a handful of items and stalls the desk with hundreds.",
)
def test_the_catalogue_asks_as_often_for_290_items_as_for_29(store, visit, asked):
    store.seed(
        items=many_items(290),
        members=[a_member(id="mb-1")],
        loans=[a_loan(id=f"ln-{n}", itemId=f"it-{n:03}", dueOn="2031-11-12") for n in range(0, 290, 10)],
    )
    many = asked("/items")
    store.seed(items=many_items(29), members=[a_member(id="mb-1")], loans=[a_loan(itemId="it-000")])
    few = asked("/items")
    assert len(visit("/items").names()) == 29
    assert many == few, f"29 items: {dict(few)}; 290 items: {dict(many)}"


@pytest.mark.probe(
    id="P.n-plus-one-history",
    tier=2,
    why="A read of the borrower for each past loan makes the page of a popular item the slowest of all.",
)
def test_the_history_asks_as_often_for_40_loans_as_for_2(store, visit, asked):
    def lend(times):
        store.seed(
            items=[an_item(id="it-tent", name="Tent")],
            members=[a_member(id=f"mb-{n}", name=f"Member {n}") for n in range(40)],
            loans=[
                a_loan(
                    id=f"ln-{n}",
                    itemId="it-tent",
                    memberId=f"mb-{n}",
                    checkedOutAt=f"2030-01-{n % 28 + 1:02}T15:00:00.000Z",
                    returnedAt="2030-12-01T15:00:00.000Z",
                    condition="good",
                )
                for n in range(times)
            ],
        )

    lend(2)
    few = asked("/items/it-tent", staff=IMKE)
    lend(40)
    many = asked("/items/it-tent", staff=IMKE)
    assert "Member 39" in visit("/items/it-tent", staff=IMKE).text
    assert many == few, f"2 loans: {dict(few)}; 40 loans: {dict(many)}"


@pytest.mark.probe(
    id="P.dedup-item",
    tier=2,
    why="Title and page both need the item. Without request-wide memoisation each visit reads it twice.",
)
def test_a_visit_asks_for_the_item_once_and_the_next_one_asks_again(scene, visit, asked):
    assert "Tent" in visit("/items/it-tent").text
    first, second = asked("/items/it-tent"), asked("/items/it-tent")
    for visit_number, counts in (("first", first), ("next", second)):
        item_reads = {name: count for name, count in counts.items() if name.startswith("items.")}
        assert sum(item_reads.values()) == 1, (
            f"the {visit_number} visit asked for the item by {item_reads or 'nothing'}"
        )


@pytest.mark.probe(
    id="P.check-before-read",
    tier=2,
    why="Whoever may not ask, or asks wrongly, should cost the store nothing.",
)
def test_an_unauthorised_or_malformed_call_causes_no_read(scene, store, desk):
    good = {"itemId": "it-drill", "memberId": "mb-ines", "dueOn": "2031-11-10"}
    calls = [
        ("/api/loans", good, None, 401),
        ("/api/loans", good | {"memberId": ""}, IMKE, 422),
        ("/api/loans", {"itemId": "it-drill", "memberId": ""}, IMKE, 422),
        ("/api/loans", good | {"dueOn": "2031-11-31"}, IMKE, 422),
        ("/api/loans/ln-tent/return", {"condition": "lost"}, IMKE, 422),
        ("/api/loans/ln-tent/return", {"condition": "damaged"}, IMKE, 422),
    ]
    for path, body, staff, status in calls:
        before = len(store.trace)
        answer = desk.post_json(path, body, staff=staff)
        asked_for = [operation.name for operation in store.trace[before:]]
        assert (answer.status, asked_for) == (status, []), f"for {body} to {path}"


@pytest.mark.probe(
    id="P.get-is-safe",
    tier=1,
    why="Browsers, crawlers and link prefetches send GET requests whenever they like.",
)
def test_looking_around_writes_nothing(scene, store, staff, desk):
    staff.open("/items")
    card = staff.page.get_by_role("article").first
    staff.expect(card).to_be_visible()
    staff.hover(card.get_by_role("link").first)
    staff.rest()
    for item in ("it-drill", "it-tent", "it-saw"):
        assert desk.get(f"/items/{item}", staff=IMKE).status == 200
    assert [name for name in store.asked() if name in WRITES] == []
    # Once it came back damaged; it has been repaired since.
    store.seed(
        items=[an_item(id="it-fixed", name="Lathe")],
        members=[a_member()],
        loans=[
            a_loan(
                itemId="it-fixed",
                returnedAt="2031-11-03T15:00:00.000Z",
                returnedBy=IMKE,
                condition="damaged",
                note="Bent.",
            )
        ],
    )
    for path in ("/items", "/items/it-fixed", "/api/loans"):
        assert "fixed" in desk.get(path, staff=IMKE).text
    assert [name for name in store.asked() if name in WRITES] == []


@pytest.mark.probe(
    id="P.two-sessions",
    tier=1,
    why="A module's variable is shared by all requests: one visitor's page shows what another was allowed to see.",
)
def test_two_sessions_held_inside_each_other_each_see_their_own(scene, store, desk):
    with (
        store.held(*READS) as held,
        desk.opening("/items/it-tent") as visitor,
        desk.opening("/items/it-tent", staff=IMKE) as staff,
    ):
        store.settle()
        assert held.waiting, "the page asked the store for nothing"
        held.release()
        for_visitor, for_staff = visitor.finish().text, staff.finish().text
    assert "Lars Bo" in Document(for_staff).text, "the page of a signed-in desk lacks the borrower's name"
    assert "Return item" in Document(for_staff).text, "the page of a signed-in desk lacks the form"
    assert "Tent" in Document(for_visitor).text, "the visitor's page lacks the item"
    assert "Lars Bo" not in for_visitor, "a visitor's page holds what only staff may see"
    assert "Return item" not in Document(for_visitor).text.apart


@pytest.mark.probe(
    id="P.each-read-fails",
    tier=2,
    why="Of several reads one fails. Swallowed, it makes a page that says what isn't so: never lent, no members.",
)
@pytest.mark.usefixtures("scene")
def test_a_page_is_not_shown_without_a_part_of_its_data(store, staff, desk, asked):
    page = staff.page
    for path in ("/items", "/items/it-drill"):
        reads = sorted(asked(path, staff=IMKE))
        assert reads, f"{path} asked the store for nothing"
        for read in reads:
            with store.fail(read):
                staff.open(path)
                staff.expect(page.get_by_role("heading", name="Items are not available right now")).to_be_visible()
                staff.expect(page.get_by_role("heading", name="Drill")).to_have_count(0)
    assert desk.get("/items", staff=IMKE).status == 200, "the server is gone"


@pytest.mark.probe(
    id="P.lending-reads",
    tier=2,
    why="Item, member and loans don't need each other. Asked for in turn, they keep the desk waiting for each.",
)
@pytest.mark.usefixtures("scene")
def test_lending_does_not_ask_for_one_thing_after_the_other(store, desk):
    lend = desk.prepare("POST", "/api/loans", json={"itemId": "it-drill", "memberId": "mb-ines"}, staff=IMKE)
    with store.held(*READS) as held, desk.begin(lend) as lending:
        store.settle()
        first = [operation.name for operation in held.operations]
        held.release()
        assert lending.finish().status == 201
    assert len(first) > 1, (
        f"a check-out has asked for {' and '.join(first) or 'nothing'} only, and waits for that before it asks on; "
        "reads that don't need one another start together"
    )
