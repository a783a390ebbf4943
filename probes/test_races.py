"""Two desks act at the same moment: the store lets both look before either writes."""

import pytest

from pytest_lendbench.bench.store import a_loan, a_member, an_item
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
    assert len(store.rows("loans")) == 1


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
