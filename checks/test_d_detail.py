"""D. The detail page: `/items/ID`."""

from collections import Counter

import pytest

from pytest_lendbench.bench.store import a_loan, a_member, an_item
from pytest_lendbench.rules.claims import only

pytestmark = pytest.mark.domain(name="D")


@pytest.fixture
def tent(store):
    """A tent on loan to Ines until 12 November, lent twice before."""
    store.seed(
        items=[
            an_item(
                id="it-tent",
                name="Tent",
                category="Outdoors",
                shelf="C4",
                description="Sleeps three.",
                loanDays=14,
            ),
            an_item(id="it-drill", name="Drill", loanDays=1, shelf="Yard"),
            an_item(id="it-saw", name="Jigsaw", inMaintenance=True),
        ],
        members=[a_member(id="mb-ines", name="Ines Abara"), a_member(id="mb-juri", name="Juri Tamm")],
        loans=[
            a_loan(
                id="ln-1",
                itemId="it-tent",
                memberId="mb-juri",
                # 23:50 on 3 August at the desk, which is the next day in UTC and in Tokyo.
                checkedOutAt="2031-08-04T02:20:00.000Z",
                dueOn="2031-08-10",
                returnedAt="2031-08-09T15:00:00.000Z",
                condition="good",
            ),
            a_loan(
                id="ln-2",
                itemId="it-tent",
                memberId="mb-ines",
                checkedOutAt="2031-11-01T15:00:00.000Z",
                dueOn="2031-11-12",
            ),
            a_loan(
                id="ln-3",
                itemId="it-tent",
                memberId="mb-ines",
                checkedOutAt="2031-10-02T15:00:00.000Z",
                dueOn="2031-10-09",
                returnedAt="2031-10-09T15:00:00.000Z",
                condition="good",
            ),
        ],
    )


@pytest.mark.check(id="D.facts", tier=0, spec="D.2")
def test_the_page_shows_what_the_item_is_and_how_it_stands(tent, visit):
    text = visit("/items/it-tent").text
    words = ("Outdoors", "Shelf C4", "Sleeps three.", "Lent for up to 14 days", "On loan", "Due 12 Nov 2031")
    missing = [word for word in words if word not in text]
    assert not missing, f"the page lacks {missing}: {text}"
    short = visit("/items/it-drill").text
    assert "Shelf Yard" in short
    assert "Lent for up to 1 day" in short
    assert "1 days" not in short


@pytest.mark.check(id="D.heading", tier=0, spec="D.1")
def test_the_page_has_its_title_and_one_heading(tent, visitor):
    visitor.open("/items/it-tent")
    visitor.expect_page().to_have_title("Tent · Lending Desk")
    visitor.expect(visitor.page.get_by_role("heading", level=1)).to_have_text(["Tent"])


@pytest.mark.check(id="D.unknown", tier=1, spec="D.3")
def test_an_unknown_item_is_said_not_to_be_there(tent, visitor):
    visitor.open("/items/it-nowhere")
    visitor.expect(visitor.page.get_by_role("heading", name="Item not found")).to_be_visible()
    visitor.expect(visitor.page.get_by_role("link", name="Back to items")).to_have_attribute("href", "/items")


@pytest.mark.check(id="D.history", tier=1, spec="D.4")
def test_the_history_is_told_from_the_latest_check_out_backwards(tent, visit):
    text = str(visit("/items/it-tent").text)
    _, heading, history = text.rpartition("Loan history")
    assert heading, f"there is no 'Loan history': {text}"
    days = ["1 Nov 2031", "12 Nov 2031", "Open", "2 Oct 2031", "9 Oct 2031", "3 Aug 2031", "10 Aug 2031", "9 Aug 2031"]
    missing = [day for day in days if day not in history]
    assert not missing, f"the history lacks {missing}: {history}"
    rows = [history.index(day) for day in ("1 Nov 2031", "2 Oct 2031", "3 Aug 2031")]
    assert rows == sorted(rows), f"the latest check-out comes first: {history}"


@pytest.mark.check(id="D.never-lent", tier=1, spec="D.5")
def test_an_item_without_loans_was_never_lent(tent, visit):
    assert "Never lent." in visit("/items/it-drill").text
    assert "Never lent." not in visit("/items/it-tent").text


@pytest.mark.check(id="D.borrowers", tier=1, spec="D.6")
def test_only_staff_see_who_borrowed(tent, desk, visit):
    seen_by_staff = visit("/items/it-tent", staff="st-imke").text
    assert "Ines Abara" in seen_by_staff
    assert "Juri Tamm" in seen_by_staff
    sent_to_visitor = desk.get("/items/it-tent").text
    assert "Outdoors" in sent_to_visitor
    assert "Ines Abara" not in sent_to_visitor, "a visitor was sent a borrower's name"
    assert "Juri Tamm" not in sent_to_visitor, "a visitor was sent a borrower's name"


@pytest.mark.check(id="D.offers", tier=0, spec="D.7")
def test_staff_are_offered_what_can_be_done_now(tent, staff):
    page = staff.page
    check_out, give_back = (page.get_by_role("button", name=name) for name in ("Check out", "Return item"))
    staff.open("/items/it-drill")
    staff.expect(check_out).to_be_visible()
    staff.expect(give_back).to_have_count(0)
    staff.open("/items/it-tent")
    staff.expect(give_back).to_be_visible()
    staff.expect(check_out).to_have_count(0)


@pytest.mark.check(id="D.offers-nobody", tier=2, spec="D.7, E.2")
def test_the_form_is_offered_also_when_nobody_can_borrow(store, staff):
    for members in ([], [a_member(name="Juri Tamm", status="suspended")]):
        store.seed(items=[an_item(id="it-drill", name="Drill")], members=members)
        staff.open("/items/it-drill")
        staff.expect(staff.page.get_by_role("button", name="Check out")).to_be_visible()


@pytest.mark.check(id="D.returned", tier=1, spec="A.1, D.2, D.4, D.7")
def test_a_loan_that_has_a_day_of_return_is_over_whatever_else_it_says(store, visit):
    store.seed(
        items=[an_item(id="it-tent", name="Tent")],
        members=[a_member()],
        loans=[
            a_loan(
                itemId="it-tent",
                checkedOutAt="2031-10-03T13:00:00.000Z",
                dueOn="2031-10-10",
                returnedAt="2031-10-03T19:00:00.000Z",
                returnedBy=None,
                condition=None,
            )
        ],
    )
    page = visit("/items/it-tent", staff="st-imke").text
    missing = [words for words in ("Available", "Check out") if words not in page]
    assert not missing, f"the loan was returned, but the page lacks {missing}: {page}"
    page = visit("/items/it-tent").text  # Without a form.
    _, heading, history = str(page).rpartition("Loan history")
    assert heading, f"there is no 'Loan history': {page}"
    assert "Open" not in history
    assert history.count("3 Oct 2031") >= 2, f"checked out and returned on one day: {history}"


@pytest.mark.check(id="D.maintenance", tier=1, spec="D.8")
def test_staff_are_told_that_an_item_in_maintenance_cannot_be_lent(tent, visit):
    document = visit("/items/it-saw", staff="st-imke")
    assert "This item is in maintenance and cannot be lent." in document.text
    assert "Check out" not in document.text.apart


@pytest.mark.check(id="D.visitor", tier=1, spec="D.9")
def test_a_visitor_is_shown_the_way_to_sign_in_and_no_form(tent, visit):
    for item in ("it-drill", "it-tent", "it-saw"):
        document = visit(f"/items/{item}")
        assert document.link("Sign in to lend or return") in {
            f"/sign-in?next=/items/{item}",
            f"/sign-in?next=%2Fitems%2F{item}",
        }
        buttons = [button.get_text() for button in document.soup.find_all("button")]
        assert "Check out" not in buttons
        assert "Return item" not in buttons


@pytest.mark.check(id="D.parallel-reads", tier=2, spec="D.10")
def test_item_and_loans_are_asked_for_at_the_same_time(tent, store, desk):
    with store.held("items.get", "items.list", "loans.list") as held, desk.opening("/items/it-tent"):
        store.settle()
        waiting = set(held.waiting)
    assert "loans.list" in waiting, f"before the item has come, only {waiting or 'nothing'} is asked for"
    assert waiting & {"items.get", "items.list"}, f"before the loans have come, only {waiting} is asked for"


@pytest.mark.check(id="D.once", tier=2, spec="D.10")
def test_loans_and_members_are_asked_for_once_in_a_visit(tent, store, desk):
    for item, staff in (("it-tent", None), ("it-tent", "st-imke"), ("it-drill", "st-imke")):
        answer = desk.get(f"/items/{item}", staff=staff)
        assert answer.status == 200, answer.text[:200]
        asked = Counter(
            f"{operation.name} {operation.args}"
            for operation in store.trace
            if operation.tag == answer.tag and not operation.name.startswith("items.")
        )
        assert asked, "the page asked for no loans"
        again = sorted(what for what, count in asked.items() if count > 1)
        assert not again, f"asked for more than once in a visit of {staff or 'a visitor'}: {again}"


@pytest.mark.check(id="D.present", tier=0, spec="D.2")
def test_a_visit_shows_what_was_changed_from_outside(tent, store, visit):
    before = visit("/items/it-tent").text
    assert "On loan" in before
    store.seed(
        items=[an_item(id="it-tent", name="Tent", shelf="Z9", loanDays=3)],
        members=[a_member(id="mb-ines", name="Ines Abara")],
        loans=[a_loan(id="ln-9", itemId="it-tent", memberId="mb-ines", dueOn="2031-11-01")],
    )
    after = visit("/items/it-tent").text
    missing = [words for words in ("Shelf Z9", "Lent for up to 3 days", "Overdue", "3 days late") if words not in after]
    assert not missing, f"another process has changed item and loans, but the page lacks {missing}: {after}"
    assert "Never lent." not in after


@pytest.mark.check(id="D.lent-in-maintenance", tier=2, spec="D.7, D.8")
def test_an_item_in_maintenance_that_is_on_loan_can_be_returned(store, staff):
    store.seed(
        items=[an_item(id="it-tent", name="Tent", inMaintenance=True)],
        members=[a_member(id="mb-ines", name="Ines Abara")],
        loans=[a_loan(itemId="it-tent", memberId="mb-ines", dueOn="2031-11-12")],
    )
    staff.open("/items/it-tent")
    staff.expect(staff.page.get_by_role("button", name="Return item")).to_be_visible()
    staff.expect(staff.page.get_by_text("This item is in maintenance and cannot be lent.")).to_have_count(0)


@pytest.mark.check(id="D.odd-id", tier=1, spec="D.1, B.2")
def test_an_item_is_found_whatever_its_id_holds(store, visit):
    store.seed(items=[an_item(id="a b/c?d=é&1+1=100%", name="Odd one")])
    card = only(visit("/items").cards(), "card")
    assert card.href == "/items/a%20b%2Fc%3Fd%3D%C3%A9%261%2B1%3D100%25"
    page = visit(card.href)
    assert "Odd one" in [heading.get_text() for heading in page.soup.find_all("h1")]
    assert page.title == "Odd one · Lending Desk"
    store.seed(items=[an_item(id="x+y", name="Plus one")])
    assert "Plus one" in visit("/items/x+y").text, "in a path a plus is a plus"


@pytest.mark.check(id="D.long-history", tier=2, spec="D.4")
def test_a_long_history_is_whole_and_in_the_order_of_the_check_outs(store, visit):
    # Check-outs from the earliest to the latest. The due days tell the loans apart and have another order, and so have
    # the returns.
    due_days = [28, 3, 14, 26, 5, 12, 30, 8, 21, 2, 17, 10, 24]
    loans = [
        a_loan(
            id=f"ln-{(number * 5) % 13}",
            itemId="it-tent",
            checkedOutAt=f"2031-07-{number // 4 + 1:02}T{12 + number % 4}:00:00.000Z",
            dueOn=f"2031-08-{day:02}",
            returnedAt=f"2031-10-{(number * 7) % 13 + 10}T15:00:00.000Z",
            returnedBy="st-imke",
            condition="good",
        )
        for number, day in enumerate(due_days)
    ]
    late = a_loan(id="ln-open", itemId="it-tent", checkedOutAt="2031-10-26T12:00:00.000Z", dueOn="2031-11-01")
    store.seed(
        items=[an_item(id="it-tent", name="Tent")],
        members=[a_member()],
        loans=[*sorted(loans, key=lambda loan: loan["id"]), late],
    )
    _, heading, history = str(visit("/items/it-tent").text).rpartition("Loan history")
    assert heading, "there is no 'Loan history'"
    shown = [f"{day} Aug 2031" for day in reversed(due_days)]
    missing = [day for day in shown if f" {day}" not in history]
    assert not missing, f"the history lacks the loans that were due on {missing}: {history}"
    places = [history.index(f" {day}") for day in shown]
    assert places == sorted(places), f"the latest check-out comes first: {history}"
    assert "Open" in history[: places[0]], f"the loan that is late is open: {history}"


@pytest.mark.check(id="D.lent-at-once", tier=2, spec="D.2, D.7")
def test_of_loans_of_one_instant_the_open_one_counts(store, visit):
    came_back = {"returnedAt": "2031-11-01T15:00:00.000Z", "returnedBy": "st-imke", "condition": "good"}
    for first in (0, 1):
        loans = [
            a_loan(id="ln-1", itemId="it-tent", dueOn="2031-11-12"),
            a_loan(id="ln-2", itemId="it-tent", dueOn="2031-11-09", **came_back),
        ]
        store.seed(
            items=[an_item(id="it-tent", name="Tent")], members=[a_member()], loans=[loans[first], loans[1 - first]]
        )
        text = visit("/items/it-tent", staff="st-imke").text
        for shown in ("On loan", "Due 12 Nov 2031", "Return item"):
            assert shown in text, f"of two loans of one instant, one open, the page lacks {shown!r}"


@pytest.mark.check(id="D.present-by-link", tier=1, spec="D.2, F.21")
def test_a_card_leads_to_the_present_state(store, visitor):
    page = visitor.page
    store.seed(items=[an_item(id="it-kayak", name="Kayak")])
    visitor.open("/items")
    visitor.rest()
    store.seed(
        items=[an_item(id="it-kayak", name="Kayak")],
        members=[a_member()],
        loans=[a_loan(itemId="it-kayak", dueOn="2031-11-12")],
    )
    visitor.click(page.get_by_role("article").get_by_role("link", name="Kayak"))
    visitor.expect(page.get_by_role("heading", name="Kayak", level=1)).to_be_visible()
    visitor.expect(page.get_by_text("Due 12 Nov 2031").first).to_be_visible()
