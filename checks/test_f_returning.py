"""F. Returning: who may, which rules hold, what is written.

The rules hold for the form and for the API alike. Where a text is asked for over the API here, the form's own checks
are in E.
"""

import json

import pytest

from pytest_lendbench.bench.store import a_loan, a_member, an_item
from pytest_lendbench.rules.claims import only

pytestmark = [pytest.mark.domain(name="F"), pytest.mark.usefixtures("scene")]

IMKE = "st-imke"
NOW = "2031-11-05T02:10:00.000Z"


@pytest.mark.check(id="F.auth-return", tier=0, spec="F.1")
def test_a_return_needs_a_session_whatever_the_page_offered(return_form, store, desk):
    form = return_form.open()
    request = form.screen.catch(form.submit)
    before = store.rows("loans")
    desk.replay(request, staff=None)
    assert store.rows("loans") == before, "the browser's own request, sent without its cookie, returned the item"
    desk.replay(request, staff=IMKE)
    assert store.rows("loans") != before, "the browser's own request, sent with its cookie, returned nothing"


@pytest.mark.check(id="F.return-record", tier=0, spec="F.20")
def test_a_return_is_recorded_exactly(return_form, store):
    form = return_form.open()
    form.submit(condition="Damaged", note="  A pole is bent.  ")
    done = form.screen.page.get_by_text("This item is in maintenance and cannot be lent.")
    form.screen.expect(done).to_be_visible()
    loan = only((loan for loan in store.rows("loans") if loan["id"] == "ln-tent"), "loan of the tent")
    written = {key: loan[key] for key in ("returnedAt", "returnedBy", "condition", "note", "dueOn", "memberId")}
    assert written == {
        "returnedAt": NOW,
        "returnedBy": IMKE,
        "condition": "damaged",
        "note": "A pole is bent.",
        "dueOn": "2031-11-12",
        "memberId": "mb-lars",
    }
    tent = only((item for item in store.rows("items") if item["id"] == "it-tent"), "tent")
    assert tent["inMaintenance"], "a damaged item goes into maintenance"


@pytest.mark.check(id="F.return-rules", tier=1, spec="F.15, F.16, F.17, G.6")
def test_a_return_that_breaks_a_rule_is_refused(desk, store):
    before = store.rows("loans")
    flags = "🇩🇪" * 100
    cases = [
        ({"condition": ""}, 422, "Choose a condition."),
        ({"condition": "lost"}, 422, "Choose a condition."),
        ({"condition": "damaged"}, 422, "Describe the damage."),
        ({"condition": "damaged", "note": " \t"}, 422, "Describe the damage."),
        ({"condition": "good", "note": flags + "x"}, 422, "A note has at most 200 characters."),
    ]
    for body, status, text in cases:
        answer = desk.post_json("/api/loans/ln-tent/return", body, staff=IMKE)
        assert (answer.status, answer.json()) == (status, {"error": text}), f"for {body}"
    assert store.rows("loans") == before, "a return was refused, but the store's loans have changed"
    answer = desk.post_json("/api/loans/ln-tent/return", {"condition": "good", "note": "🪚" * 200}, staff=IMKE)
    assert answer.status == 200, f"200 emoji are 200 characters: {answer.text}"
    escaped = json.dumps({"condition": "good", "note": "🔧" * 200}).encode()
    answer = desk.request(
        "POST",
        "/api/loans/ln-lamp/return",
        content=escaped,
        headers={"content-type": "application/json"},
        staff=IMKE,
    )
    assert answer.status == 200, f"200 emoji, written as escapes, are 200 characters: {answer.text}"


@pytest.mark.check(id="F.returned-once", tier=1, spec="F.18, F.19, G.6")
def test_a_loan_is_returned_once(desk, store):
    first = desk.post_json("/api/loans/ln-tent/return", {"condition": "good"}, staff=IMKE)
    assert first.status == 200, first.text
    before = store.rows("loans"), store.rows("items")
    for staff in ("st-tomas", IMKE):
        again = desk.post_json("/api/loans/ln-tent/return", {"condition": "damaged", "note": "Torn."}, staff=staff)
        assert (again.status, again.json()) == (409, {"error": "This loan has already been returned."})
    assert (store.rows("loans"), store.rows("items")) == before, "a second return has changed something"
    unknown = desk.post_json("/api/loans/ln-none/return", {"condition": "good"}, staff=IMKE)
    assert (unknown.status, unknown.json()) == (404, {"error": "This loan does not exist."})


@pytest.mark.check(id="F.current-after-return", tier=1, spec="F.21")
def test_after_a_return_the_catalogue_shows_the_new_state_by_a_link(return_form):
    screen = return_form.screen
    card = screen.page.get_by_role("article").filter(has=screen.page.get_by_role("heading", name="Tent"))
    screen.open("/items")
    screen.click(card.get_by_role("link"))
    screen.expect(return_form.button).to_be_visible()
    return_form.submit()
    screen.expect(screen.page.get_by_role("button", name="Check out")).to_be_visible()
    screen.click(screen.page.get_by_role("navigation", name="Main").get_by_role("link", name="Items"))
    screen.expect(card).to_contain_text("Available")
    screen.expect(card).not_to_contain_text("On loan")


@pytest.mark.check(id="F.note", tier=2, spec="F.17, F.20")
def test_a_note_is_counted_and_kept_without_white_space_at_its_ends(store, desk):
    # 200 characters by their code points: none is brought into another form.
    inner = f"Two  blanks,\na cle\u0301 of 8 \u212b, {'x' * 172}"
    for loan, note, kept in (("ln-tent", f"  {inner}\n ", inner), ("ln-lamp", " \n ", None)):
        answer = desk.post_json(f"/api/loans/{loan}/return", {"condition": "good", "note": note}, staff=IMKE)
        assert answer.status == 200, answer.text
        row = only((row for row in store.rows("loans") if row["id"] == loan), f"loan {loan}")
        assert row["note"] == kept


@pytest.mark.check(id="F.return-good", tier=1, spec="F.20")
def test_an_item_that_comes_back_good_stays_as_it_was(store, desk):
    store.seed(
        items=[an_item(id="it-1", name="Lamp"), an_item(id="it-2", name="Saw", inMaintenance=True)],
        members=[a_member(id="mb-1")],
        loans=[a_loan(id="ln-1", itemId="it-1"), a_loan(id="ln-2", itemId="it-2")],
    )
    before = store.rows("items")
    for loan in ("ln-1", "ln-2"):
        answer = desk.post_json(f"/api/loans/{loan}/return", {"condition": "good", "note": "As new."}, staff=IMKE)
        assert answer.status == 200, answer.text
    assert store.rows("items") == before, "a return in good condition has changed an item"
    written = [
        (loan["returnedAt"], loan["returnedBy"], loan["condition"], loan["note"]) for loan in store.rows("loans")
    ]
    assert written == [(NOW, IMKE, "good", "As new.")] * 2


@pytest.mark.check(id="F.return-order", tier=2, spec="F.15, F.16, F.17")
def test_of_several_broken_rules_of_a_return_the_first_answers(desk):
    closed = desk.post_json("/api/loans/ln-tent/return", {"condition": "good"}, staff=IMKE)
    assert closed.status == 200, closed.text
    cases = [
        ("ln-none", {"condition": "lost", "note": "x" * 201}, 422, "Choose a condition."),
        ("ln-none", {"condition": "damaged", "note": ""}, 422, "Describe the damage."),
        ("ln-tent", {"condition": "good", "note": "x" * 201}, 422, "A note has at most 200 characters."),
    ]
    for loan, body, status, text in cases:
        answer = desk.post_json(f"/api/loans/{loan}/return", body, staff=IMKE)
        assert (answer.status, answer.json()) == (status, {"error": text}), f"for {body}"


@pytest.mark.check(id="F.form-note", tier=2, spec="F.17, F.20")
def test_a_line_break_in_the_forms_note_is_one_character(return_form, store):
    form = return_form.open()
    form.screen.fill(form.note, "\n".join([*["x" * 49] * 3, "x" * 50]))
    note = form.note.input_value()  # A control of one line keeps no line breaks.
    form.submit()
    form.screen.expect(form.screen.page.get_by_role("button", name="Check out")).to_be_visible()
    loan = only((loan for loan in store.rows("loans") if loan["id"] == "ln-tent"), "loan of the tent")
    assert loan["note"] == note
