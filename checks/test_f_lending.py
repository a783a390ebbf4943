"""F. Lending: who may, which rules hold, what is written; and what pages show after a change.

The rules hold for the form and for the API alike. Where a text is asked for over the API here, the form's own checks
are in E.
"""

import pytest

from pytest_lendbench.bench.store import a_loan, a_member, an_item
from pytest_lendbench.rules.claims import only, part, texts

pytestmark = [pytest.mark.domain(name="F"), pytest.mark.usefixtures("scene")]

IMKE = "st-imke"
NOW = "2031-11-05T02:10:00.000Z"
LOAN = {"itemId": "it-drill", "memberId": "mb-ines", "dueOn": "2031-11-10"}


@pytest.fixture
def refused(desk, store):
    """Asks for a loan that breaks a rule: it is refused with the status and the text, and nothing is written."""

    def ask(status, text, **changes):
        before = store.rows("loans")
        answer = desk.post_json("/api/loans", LOAN | changes, staff=IMKE)
        assert (answer.status, answer.json()) == (status, {"error": text})
        assert store.rows("loans") == before, "the loan was refused, but the store's loans have changed"

    return ask


@pytest.mark.check(id="F.auth-checkout", tier=0, spec="F.1")
def test_a_check_out_needs_a_session_whatever_the_page_offered(check_out_form, store, desk):
    form = check_out_form.open()
    request = form.screen.catch(lambda: form.submit(member="Ines Abara"))
    before = store.rows("loans")
    desk.replay(request, staff=None)
    assert store.rows("loans") == before, "the browser's own request, sent without its cookie, wrote a loan"
    desk.replay(request, staff=IMKE)
    assert len(store.rows("loans")) == len(before) + 1, "the browser's own request, sent with its cookie, wrote no loan"


@pytest.mark.check(id="F.due-day", tier=1, spec="F.3, G.6")
def test_a_due_day_is_a_real_calendar_day(refused):
    for day in (
        "2031-11-31",
        "2031-02-29",
        "2100-02-29",
        "10.11.2031",
        "2031-11-1",
        "tomorrow",
        "",
        "2031-11-10T00:00",
    ):
        refused(422, "Enter the due day as YYYY-MM-DD.", dueOn=day)


@pytest.mark.check(id="F.unknown", tier=1, spec="F.4, F.5, G.6")
def test_item_and_member_must_exist(refused):
    refused(404, "This item does not exist.", itemId="it-none", memberId="mb-none")
    refused(404, "This member does not exist.", memberId="mb-none")


@pytest.mark.check(id="F.after-today", tier=1, spec="F.6")
def test_a_due_day_is_after_today_at_the_desk(refused, desk):
    # In UTC and in Tokyo it is the 5th already.
    refused(422, "The due day must be after today.", dueOn="2031-11-04")
    answer = desk.post_json("/api/loans", LOAN | {"dueOn": "2031-11-05"}, staff=IMKE)
    assert answer.status == 201, answer.text


@pytest.mark.check(id="F.latest-day", tier=1, spec="F.7")
def test_a_loan_is_no_longer_than_the_items_loan_days(refused, desk):
    refused(422, "This item can be lent until 11 Nov 2031 at the latest.", dueOn="2031-11-12")
    answer = desk.post_json("/api/loans", LOAN | {"dueOn": "2031-11-11"}, staff=IMKE)
    assert answer.status == 201, answer.text


@pytest.mark.check(id="F.calendar-days", tier=2, spec="F.7, G.4")
def test_loan_days_are_days_of_the_calendar(refused, desk, store, clock, at_desk):
    # Across the clock's changes, where a day has 25 or 23 hours, across a leap day and the end of a year.
    for today, last, beyond, text in (
        ("2031-10-29 00:20", "2031-11-05", "2031-11-06", "5 Nov 2031"),
        ("2032-03-09 23:40", "2032-03-16", "2032-03-17", "16 Mar 2032"),
        ("2032-02-25 12:00", "2032-03-03", "2032-03-04", "3 Mar 2032"),
        ("2031-12-30 20:40", "2032-01-06", "2032-01-07", "6 Jan 2032"),
    ):
        store.seed(items=[an_item(id="it-drill", loanDays=7)], members=[a_member(id="mb-ines")])
        clock(at_desk(today))
        refused(422, f"This item can be lent until {text} at the latest.", dueOn=beyond)
        without = {"itemId": "it-drill", "memberId": "mb-ines"}
        answer = desk.post_json("/api/loans", without, staff=IMKE)
        assert (answer.status, part(answer.json(), "loan", "dueOn")) == (201, last), f"lent at {today}"


@pytest.mark.check(id="F.next-day", tier=1, spec="F.6, F.7, F.11, F.14, F.20, G.3")
def test_a_day_that_begins_while_the_server_runs_counts(refused, desk, store, clock, at_desk):
    store.seed(
        items=[an_item(id="it-drill", loanDays=7), an_item(id="it-tent"), an_item(id="it-lamp")],
        members=[a_member(id="mb-ines"), a_member(id="mb-oda", name="Oda Dahl")],
        loans=[a_loan(id="ln-lamp", itemId="it-lamp", memberId="mb-oda", dueOn="2031-11-04")],
    )
    assert desk.get("/api/loans?state=overdue", staff=IMKE).json() == {"loans": []}
    refused(422, "This item can be lent until 11 Nov 2031 at the latest.", dueOn="2031-11-12")
    midnight = at_desk("2031-11-05 00:00")
    clock(midnight)
    overdue = desk.get("/api/loans?state=overdue", staff=IMKE).json()
    assert texts(part(overdue, "loans"), "id") == ["ln-lamp"], "what is overdue on the next day"
    refused(409, "Oda Dahl has an overdue loan.", memberId="mb-oda")
    refused(422, "The due day must be after today.", dueOn="2031-11-05")
    refused(422, "This item can be lent until 12 Nov 2031 at the latest.", dueOn="2031-11-13")
    lent = desk.post_json("/api/loans", LOAN | {"dueOn": "2031-11-12"}, staff=IMKE)
    assert lent.status == 201, lent.text
    back = desk.post_json("/api/loans/ln-lamp/return", {"condition": "good"}, staff=IMKE)
    assert back.status == 200, back.text
    assert [loan["checkedOutAt"] for loan in store.rows("loans") if loan["itemId"] == "it-drill"] == [midnight]
    assert [loan["returnedAt"] for loan in store.rows("loans") if loan["id"] == "ln-lamp"] == [midnight]


@pytest.mark.check(id="F.suspended", tier=1, spec="F.8")
def test_a_suspended_member_cannot_borrow(refused, store):
    refused(409, "Juri Tamm is suspended and cannot borrow.", memberId="mb-juri")
    store.seed(
        items=[an_item(id="it-drill", name="Drill")],
        members=[a_member(id="mb-ines", name="Ines Abara", status="suspended", suspensionReason=None)],
    )
    refused(409, "Ines Abara is suspended and cannot borrow.")


@pytest.mark.check(id="F.on-loan", tier=0, spec="F.9")
def test_an_item_on_loan_cannot_be_lent_again(refused, store):
    refused(409, "This item is already on loan.", itemId="it-tent")
    came_back = {"returnedAt": "2031-11-01T15:00:00.000Z", "returnedBy": IMKE, "condition": "good"}
    store.seed(
        items=[an_item(id="it-drill", name="Drill"), an_item(id="it-lamp", name="Lamp")],
        members=[a_member(id="mb-oda", name="Oda Dahl"), a_member(id="mb-lars")],
        loans=[
            a_loan(id="ln-1", itemId="it-drill", memberId="mb-lars", **came_back),
            a_loan(id="ln-2", itemId="it-drill", memberId="mb-lars", dueOn="2031-11-12"),
            a_loan(id="ln-3", itemId="it-drill", memberId="mb-oda", **came_back),
            a_loan(id="ln-4", itemId="it-lamp", memberId="mb-oda", dueOn="2031-11-01"),
        ],
    )
    refused(409, "This item is already on loan.", memberId="mb-oda")


@pytest.mark.check(id="F.maintenance", tier=1, spec="F.10")
def test_an_item_in_maintenance_cannot_be_lent(refused):
    refused(409, "This item is in maintenance.", itemId="it-saw")


@pytest.mark.check(id="F.overdue-member", tier=1, spec="F.11")
def test_a_member_with_an_overdue_loan_cannot_borrow(refused, store):
    refused(409, "Oda Dahl has an overdue loan.", memberId="mb-oda")
    # Neither the loan that was made first is the late one, nor the last.
    days = [("2031-10-06", "2031-11-06"), ("2031-10-07", "2031-11-03"), ("2031-10-08", "2031-11-08")]
    store.seed(
        items=[an_item(id="it-drill"), *(an_item(id=f"it-{n}") for n in range(3))],
        members=[a_member(id="mb-ines", name="Ines Abara", memberClass="steward")],
        loans=[
            a_loan(id=f"ln-{n}", itemId=f"it-{n}", memberId="mb-ines", checkedOutAt=f"{out}T15:00:00.000Z", dueOn=due)
            for n, (out, due) in enumerate(days)
        ],
    )
    refused(409, "Ines Abara has an overdue loan.")


@pytest.mark.check(id="F.limit", tier=1, spec="F.12")
def test_a_member_borrows_as_much_as_the_class_allows(store, refused, desk):
    refused(409, "Lars Bo already has 1 open loan.", memberId="mb-lars")
    store.seed(
        items=[an_item(id=f"it-{n}", name=f"Lamp {n}") for n in range(5)],
        members=[a_member(id="mb-ines", name="Ines Abara", memberClass="maker")],
        loans=[a_loan(id=f"ln-{n}", itemId=f"it-{n}", memberId="mb-ines", dueOn="2031-11-08") for n in range(2)],
    )
    third = desk.post_json("/api/loans", {"itemId": "it-3", "memberId": "mb-ines", "dueOn": "2031-11-06"}, staff=IMKE)
    assert third.status == 201, third.text
    refused(409, "Ines Abara already has 3 open loans.", itemId="it-4", dueOn="2031-11-06")
    store.seed(
        items=[an_item(id=f"it-{n}", name=f"Lamp {n}") for n in range(5)],
        members=[a_member(id="mb-ines", name="Ines Abara", memberClass="apprentice")],
        loans=[a_loan(id=f"ln-{n}", itemId=f"it-{n}", memberId="mb-ines", dueOn="2031-11-08") for n in range(2)],
    )
    refused(409, "Ines Abara already has 2 open loans.", itemId="it-4", dueOn="2031-11-06")


@pytest.mark.check(id="F.first-rule", tier=2, spec="F.2")
def test_of_several_broken_rules_the_first_answers(refused, store):
    refused(422, "Choose a member.", memberId="", dueOn="never", itemId="it-none")
    refused(422, "Enter the due day as YYYY-MM-DD.", memberId="mb-none", dueOn="never")
    refused(422, "The due day must be after today.", memberId="mb-juri", itemId="it-tent", dueOn="2031-11-01")
    refused(409, "Juri Tamm is suspended and cannot borrow.", memberId="mb-juri", itemId="it-tent")
    refused(409, "This item is already on loan.", memberId="mb-oda", itemId="it-tent")
    for borrower, item in (("mb-lars", "it-tent"), ("mb-oda", "it-lamp")):
        refused(409, "This item is already on loan.", memberId=borrower, itemId=item)
    refused(409, "This item is in maintenance.", memberId="mb-oda", itemId="it-saw")
    store.seed(
        items=[an_item(id="it-drill", name="Drill"), an_item(id="it-lamp", name="Lamp")],
        members=[a_member(id="mb-ines", name="Ines Abara", memberClass="apprentice")],
        loans=[a_loan(itemId="it-lamp", memberId="mb-ines", dueOn="2031-11-01")],
    )
    refused(409, "Ines Abara has an overdue loan.")


@pytest.mark.check(id="F.record", tier=0, spec="F.14")
def test_a_new_loan_is_recorded_exactly(check_out_form, store):
    known = {loan["id"] for loan in store.rows("loans")}
    form = check_out_form.open()
    form.submit(member="Ines Abara", due_day="2031-11-09")
    form.screen.expect(form.screen.page.get_by_role("button", name="Return item")).to_be_visible()
    loan = only((loan for loan in store.rows("loans") if loan["id"] not in known), "new loan")
    assert loan | {"id": None} == {
        "id": None,
        "itemId": "it-drill",
        "memberId": "mb-ines",
        "checkedOutAt": NOW,
        "dueOn": "2031-11-09",
        "checkedOutBy": IMKE,
        "returnedAt": None,
        "returnedBy": None,
        "condition": None,
        "note": None,
    }


@pytest.mark.check(id="F.current-after", tier=1, spec="F.21")
def test_after_a_check_out_every_page_shows_the_new_state(check_out_form):
    screen = check_out_form.screen
    card = screen.page.get_by_role("article").filter(has=screen.page.get_by_role("heading", name="Drill"))
    screen.open("/items")
    screen.expect(card).to_contain_text("Available")
    screen.click(card.get_by_role("link"))
    screen.expect(check_out_form.button).to_be_visible()
    screen.rest()
    check_out_form.submit(member="Ines Abara")
    screen.expect(screen.page.get_by_role("button", name="Return item")).to_be_visible()
    screen.rest()
    screen.back()
    screen.expect(card).to_contain_text("On loan")
    screen.expect(card).not_to_contain_text("Available")


@pytest.mark.check(id="F.current-everywhere", tier=0, spec="F.21")
def test_after_the_api_has_lent_and_returned_every_next_visit_shows_it(desk, visit):
    def shown():
        cards = {card.name: card.text for card in visit("/items").cards()}
        drill = cards.get("Drill", "no card of the drill")
        member = visit("/members/mb-ines", staff=IMKE).text
        item = visit("/items/it-drill").text
        return ["On loan" in drill, "On loan" in item, "Open" in item, "Drill" in member]

    assert shown() == [False] * 4
    lent = desk.post_json("/api/loans", LOAN, staff=IMKE)
    assert lent.status == 201, lent.text
    assert shown() == [True] * 4, "card, detail page, its history and the member's page, after the loan"
    returned = desk.post_json(f"/api/loans/{part(lent.json(), 'loan', 'id')}/return", {"condition": "good"}, staff=IMKE)
    assert returned.status == 200, returned.text
    assert shown() == [False, False, False, True], "card, detail page, its history and the member's page, at the end"


@pytest.mark.check(id="F.form-rules", tier=1, spec="F.8, F.11, F.12")
def test_the_rules_about_members_hold_for_the_form(check_out_form, store):
    form = check_out_form.open()
    before = store.rows("loans")
    refusals = {
        "Juri Tamm (suspended)": "Juri Tamm is suspended and cannot borrow.",
        "Oda Dahl": "Oda Dahl has an overdue loan.",
        "Lars Bo": "Lars Bo already has 1 open loan.",
    }
    for member, text in refusals.items():
        form.submit(member=member)
        form.screen.expect(form.screen.page.get_by_text(text).first).to_be_visible()
    assert store.rows("loans") == before, "a loan was refused, but the store's loans have changed"


@pytest.mark.check(id="F.signed-in-staff", tier=1, spec="F.14")
def test_a_loan_names_who_is_signed_in_and_not_who_opened_the_form(check_out_form, store, desk):
    known = {loan["id"] for loan in store.rows("loans")}
    form = check_out_form.open()
    request = form.screen.catch(lambda: form.submit(member="Ines Abara"))
    desk.replay(request, staff="st-tomas")
    loan = only((loan for loan in store.rows("loans") if loan["id"] not in known), "new loan")
    assert loan["checkedOutBy"] == "st-tomas"


@pytest.mark.check(id="F.due-today-borrows", tier=2, spec="F.11")
def test_a_loan_that_is_due_today_is_not_overdue(store, desk):
    store.seed(
        items=[an_item(id="it-drill", name="Drill"), an_item(id="it-tent", name="Tent")],
        members=[a_member(id="mb-ines", name="Ines Abara")],
        loans=[a_loan(itemId="it-tent", memberId="mb-ines", dueOn="2031-11-04")],
    )
    answer = desk.post_json("/api/loans", LOAN, staff=IMKE)
    assert answer.status == 201, answer.text


@pytest.mark.check(id="F.only-open-loans", tier=1, spec="F.11, F.12")
def test_loans_that_were_returned_neither_count_nor_stand_in_the_way(store, desk, refused):
    came_back = {"returnedAt": "2031-11-03T15:00:00.000Z", "returnedBy": IMKE, "condition": "good"}
    store.seed(
        items=[an_item(id=f"it-{n}", name=f"Lamp {n}") for n in range(9)],
        members=[a_member(id="mb-ines", name="Ines Abara", memberClass="steward")],
        loans=[
            *(a_loan(id=f"ln-{n}", itemId=f"it-{n}", memberId="mb-ines", dueOn="2031-11-08") for n in range(4)),
            *(a_loan(id=f"ln-{n}", itemId="it-5", memberId="mb-ines", dueOn="2031-11-01", **came_back) for n in (5, 6)),
        ],
    )
    fifth = desk.post_json("/api/loans", LOAN | {"itemId": "it-5"}, staff=IMKE)
    assert fifth.status == 201, fifth.text
    refused(409, "Ines Abara already has 5 open loans.", itemId="it-7")


@pytest.mark.check(id="F.present-rules", tier=1, spec="F.7, F.10")
def test_the_rules_go_by_what_the_store_says_now(store, desk, refused):
    refused(409, "This item is in maintenance.", itemId="it-saw")
    store.seed(
        items=[an_item(id="it-saw", name="Jigsaw", loanDays=3)], members=[a_member(id="mb-ines", name="Ines Abara")]
    )
    refused(422, "This item can be lent until 7 Nov 2031 at the latest.", itemId="it-saw")
    answer = desk.post_json("/api/loans", LOAN | {"itemId": "it-saw", "dueOn": "2031-11-07"}, staff=IMKE)
    assert answer.status == 201, answer.text
