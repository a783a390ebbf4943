"""Two desks act at the same moment: the store lets both look before either writes."""

import pytest

from pytest_lendbench.bench.store import READS, WRITES, a_loan, a_member, an_item
from pytest_lendbench.rules.claims import only, part

pytestmark = [pytest.mark.domain(name="P"), pytest.mark.usefixtures("scene")]

IMKE, TOMAS = "st-imke", "st-tomas"
DAMAGED = {"condition": "damaged", "note": "Torn."}


@pytest.fixture
def two_free_members(store):
    """A drill that Ines and Mika may both borrow, and a kayak."""
    store.seed(
        items=[an_item(id="it-drill", name="Drill", loanDays=7), an_item(id="it-kayak", name="Kayak", loanDays=7)],
        members=[
            a_member(id="mb-ines", name="Ines Abara", memberClass="apprentice"),
            a_member(id="mb-mika", name="Mika Sand", memberClass="maker"),
        ],
    )


def open_loans(store, item):
    return [loan for loan in store.rows("loans") if loan["itemId"] == item and loan["returnedAt"] is None]


@pytest.mark.probe(
    id="P.action-race",
    tier=1,
    why="Two desks lend one item in the same second. A check before a plain write lets both through.",
)
def test_two_desks_lend_one_item_by_the_form(two_free_members, screens, forms, store, desk):
    requests = []
    for person, member in ((IMKE, "Ines Abara"), (TOMAS, "Mika Sand")):
        form = forms.check_out(screens(staff=person)).open()
        requests.append(form.screen.catch(lambda form=form, member=member: form.submit(member=member)))
    answers = store.race(desk.prepare_replay(requests[0], staff=IMKE), desk.prepare_replay(requests[1], staff=TOMAS))
    loans = open_loans(store, "it-drill")
    assert len(loans) == 1, f"both desks lent the drill: {len(loans)} open loans"
    assert all(answer.status < 500 for answer in answers), [answer.status for answer in answers]


@pytest.mark.probe(
    id="P.concurrent-checkout",
    tier=1,
    why="The API is called twice at once for one item. A check before a plain write lets both through.",
)
def test_two_desks_lend_one_item_by_the_api(two_free_members, store, desk):
    answers = store.race(
        desk.prepare("POST", "/api/loans", json={"itemId": "it-drill", "memberId": "mb-ines"}, staff=IMKE),
        desk.prepare("POST", "/api/loans", json={"itemId": "it-drill", "memberId": "mb-mika"}, staff=TOMAS),
    )
    assert sorted(answer.status for answer in answers) == [201, 409], [answer.text for answer in answers]
    refused = only((answer for answer in answers if answer.status == 409), "refusal")
    assert refused.json() == {"error": "This item is already on loan."}
    assert len(open_loans(store, "it-drill")) == 1


@pytest.mark.probe(
    id="P.limit-race",
    tier=2,
    why="One member borrows two things at two desks. A limit that is counted before the write is passed by both.",
)
def test_two_desks_lend_to_one_member_at_the_limit(two_free_members, store, desk):
    answers = store.race(
        desk.prepare("POST", "/api/loans", json={"itemId": "it-drill", "memberId": "mb-ines"}, staff=IMKE),
        desk.prepare("POST", "/api/loans", json={"itemId": "it-kayak", "memberId": "mb-ines"}, staff=TOMAS),
    )
    assert sorted(answer.status for answer in answers) == [201, 409], [answer.text for answer in answers]
    refused = only((answer for answer in answers if answer.status == 409), "refusal")
    assert refused.json() == {"error": "Ines Abara already has 1 open loan."}
    made = [(loan["itemId"], "open" if loan["returnedAt"] is None else "closed again") for loan in store.rows("loans")]
    assert len(made) == 1, f"of two check-outs one was refused, but the store has these loans: {made}"


@pytest.mark.probe(
    id="P.concurrent-return",
    tier=1,
    why="An item is returned at two desks at once. A plain write lets the second overwrite who returned it and how.",
)
def test_two_desks_return_one_item(store, desk):
    answers = store.race(
        desk.prepare("POST", "/api/loans/ln-tent/return", json={"condition": "good"}, staff=IMKE),
        desk.prepare("POST", "/api/loans/ln-tent/return", json=DAMAGED, staff=TOMAS),
    )
    assert sorted(answer.status for answer in answers) == [200, 409], [answer.text for answer in answers]
    refused = only((answer for answer in answers if answer.status == 409), "refusal")
    assert refused.json() == {"error": "This loan has already been returned."}
    accepted = only((answer for answer in answers if answer.status == 200), "success")
    row = only((loan for loan in store.rows("loans") if loan["id"] == "ln-tent"), "loan of the tent")
    assert row["condition"] == part(accepted.json(), "loan", "condition"), "the second return has overwritten the first"


@pytest.mark.probe(
    id="P.return-and-lend",
    tier=2,
    why="An item comes back damaged while another desk lends it. It must not be lent once it is in maintenance.",
)
def test_an_item_comes_back_damaged_while_another_desk_lends_it(store, desk):
    store.seed(
        items=[an_item(id="it-tent", name="Tent")],
        members=[a_member(id="mb-ines", name="Ines Abara"), a_member(id="mb-lars", name="Lars Bo")],
        loans=[a_loan(id="ln-tent", itemId="it-tent", memberId="mb-lars", dueOn="2031-11-12")],
    )
    # Where the return needs two writes, the other desk acts between them.
    give_back = desk.prepare("POST", "/api/loans/ln-tent/return", json=DAMAGED, staff=IMKE)
    with store.held("items.setMaintenance") as held, desk.begin(give_back) as returning:
        store.settle()
        lent = desk.post_json("/api/loans", {"itemId": "it-tent", "memberId": "mb-ines"}, staff=TOMAS)
        held.release()
        returned = returning.finish()
    assert returned.status == 200, returned.text
    assert lent.status == 409, f"the tent came back damaged, yet it was lent at once: {lent.text}"
    assert open_loans(store, "it-tent") == []


@pytest.mark.probe(
    id="P.action-api-race",
    tier=1,
    why="Form and API lend one item in the same second. A lock inside one of them doesn't hold the other.",
)
def test_form_and_api_lend_one_item(two_free_members, check_out_form, store, desk):
    form = check_out_form.open()
    request = form.screen.catch(lambda: form.submit(member="Ines Abara"))
    by_api = desk.prepare("POST", "/api/loans", json={"itemId": "it-drill", "memberId": "mb-mika"}, staff=TOMAS)
    answers = store.race(desk.prepare_replay(request, staff=IMKE), by_api)
    assert all(answer.status < 500 for answer in answers), [answer.status for answer in answers]
    loan = only(open_loans(store, "it-drill"), "open loan of the drill")
    told = {"mb-mika": 201, "mb-ines": 409}
    assert answers[1].status == told[loan["memberId"]], f"the API answered {answers[1].text} and the store has {loan}"


@pytest.mark.probe(
    id="P.return-action-race",
    tier=1,
    why="An item is returned by two forms at once. Both desks must not be told that it was their return that counted.",
)
def test_two_desks_return_one_item_by_the_form(screens, forms, store):
    desks = [forms.give_back(screens(staff=person)).open() for person in (IMKE, TOMAS)]
    with store.held(*WRITES):
        for form in desks:
            form.submit()
            form.screen.expect(form.busy_button).to_be_visible()
            form.screen.rest()
    for form in desks:
        form.screen.rest()
    refused = [form.screen.page.get_by_text("This loan has already been returned.").count() for form in desks]
    assert sorted(refused) == [0, 1], (
        f"of two desks that returned one item {sum(refused)} were told that they came late"
    )


@pytest.mark.probe(
    id="P.return-of-another",
    tier=2,
    why="While a form is open, its loan is returned and the item lent anew. The form must not end the new loan.",
)
def test_an_old_form_does_not_return_a_new_loan(return_form, store, desk):
    form = return_form.open()
    returned = desk.post_json("/api/loans/ln-tent/return", {"condition": "good"}, staff=TOMAS)
    lent = desk.post_json("/api/loans", {"itemId": "it-tent", "memberId": "mb-ines"}, staff=TOMAS)
    assert (returned.status, lent.status) == (200, 201), f"{returned.text} {lent.text}"
    with form.screen.hears("This loan has already been returned."):
        form.submit()
    assert len(open_loans(store, "it-tent")) == 1, "the form of the old loan has returned the new one"


@pytest.mark.probe(
    id="P.double-click",
    tier=1,
    why="People double-click buttons. What is sent twice is lent twice, or answered with an error that confuses.",
)
def test_a_double_click_sends_one_request(check_out_form, store):
    form = check_out_form.open()
    form.screen.choose("Member", "Ines Abara")
    before = len(form.screen.sent)
    with store.held(*WRITES) as held:
        form.screen.double_click(form.button)
        form.screen.expect(form.busy_button).to_be_visible()
        form.screen.rest()
        assert len(held.operations) == 1, f"a double click asked for {len(held.operations)} writes"
    form.screen.expect(form.screen.page.get_by_role("button", name="Return item")).to_be_visible()
    form.screen.rest()
    assert len(form.screen.sent) - before == 1, f"a double click sent {len(form.screen.sent) - before} requests"


@pytest.mark.probe(
    id="P.two-staff",
    tier=1,
    why="A module's variable is shared by all requests: one desk's loan is written down as another's.",
)
def test_two_desks_lend_different_items_inside_each_other(two_free_members, store, desk):
    by_imke = desk.prepare("POST", "/api/loans", json={"itemId": "it-drill", "memberId": "mb-mika"}, staff=IMKE)
    by_tomas = desk.prepare("POST", "/api/loans", json={"itemId": "it-kayak", "memberId": "mb-mika"}, staff=TOMAS)
    answers = store.race(by_imke, by_tomas, first=1)
    assert [answer.status for answer in answers] == [201, 201], [answer.text for answer in answers]
    written = {(loan["itemId"], loan["memberId"], loan["checkedOutBy"]) for loan in store.rows("loans")}
    assert written == {("it-drill", "mb-mika", IMKE), ("it-kayak", "mb-mika", TOMAS)}


@pytest.mark.probe(
    id="P.no-blind-retry",
    tier=2,
    why="A write that failed may have been done all the same. Trying it again by oneself can do it twice.",
)
def test_a_write_that_fails_is_not_tried_again(store, desk):
    with store.fail(*WRITES):
        lent = desk.post_json("/api/loans", {"itemId": "it-drill", "memberId": "mb-ines"}, staff=IMKE)
        returned = desk.post_json("/api/loans/ln-tent/return", {"condition": "good"}, staff=IMKE)
    for what, answer in (("check-out", lent), ("return", returned)):
        writes = [name for name in store.asked(answer.tag) if name in WRITES]
        assert len(writes) == 1, f"the {what}'s write failed, and the store was asked for {writes}"


@pytest.mark.probe(
    id="P.saved-is-saved",
    tier=2,
    why="After the write nothing may go wrong any more: who is told that nothing was saved tries again.",
)
def test_what_was_written_is_not_said_to_have_failed(store, desk):
    lend = desk.prepare("POST", "/api/loans", json={"itemId": "it-drill", "memberId": "mb-ines"}, staff=IMKE)
    give_back = desk.prepare("POST", "/api/loans/ln-tent/return", json={"condition": "good"}, staff=IMKE)
    for request, status in ((lend, 201), (give_back, 200)):
        with store.held(*WRITES) as held, desk.begin(request) as writing:
            store.settle()
            with store.fail(*READS):
                held.release()
                answer = writing.finish()
        assert answer.status == status, f"the write was done, but the answer is {answer.status}: {answer.text[:200]}"
