"""G. The API."""

import pytest

from pytest_lendbench.rules.claims import only, part, texts

pytestmark = [pytest.mark.domain(name="G"), pytest.mark.usefixtures("scene")]

IMKE = "st-imke"
LOAN = {"itemId": "it-drill", "memberId": "mb-ines", "dueOn": "2031-11-10"}


@pytest.mark.check(id="G.auth", tier=0, spec="G.1")
def test_loans_are_for_staff_only(desk, store):
    error = {"error": "Sign in as staff to do this."}
    before = store.rows("loans")
    listed = desk.get("/api/loans")
    lent = desk.post_json("/api/loans", LOAN)
    returned = desk.post_json("/api/loans/ln-tent/return", {"condition": "good"})
    answers = [(answer.status, answer.json()) for answer in (listed, lent, returned)]
    assert answers == [(401, error)] * 3
    assert store.rows("loans") == before, "a visitor has changed the store's loans"


@pytest.mark.check(id="G.list", tier=0, spec="G.2")
def test_loans_are_listed_with_their_public_fields_from_the_latest_backwards(desk, store):
    answer = desk.get("/api/loans", staff=IMKE)
    assert answer.status == 200
    fields = ("id", "itemId", "memberId", "checkedOutAt", "dueOn", "returnedAt", "condition")
    rows = sorted(store.rows("loans"), key=lambda loan: loan["checkedOutAt"], reverse=True)
    assert answer.json() == {"loans": [{field: row[field] for field in fields} for row in rows]}


@pytest.mark.check(id="G.filters", tier=1, spec="G.3")
def test_loans_can_be_filtered(desk):
    def ids(query):
        answer = desk.get(f"/api/loans?{query}", staff=IMKE)
        assert answer.status == 200, f"?{query} answered {answer.status}: {answer.text}"
        return set(texts(part(answer.json(), "loans"), "id"))

    assert ids("itemId=it-tent") == {"ln-tent"}
    assert ids("memberId=mb-oda") == {"ln-lamp"}
    assert ids("state=open") == {"ln-tent", "ln-lamp"}
    assert ids("state=overdue") == {"ln-lamp"}
    assert ids("state=returned") == set()
    assert ids("itemId=it-tent&state=overdue") == set()
    assert desk.get("/api/loans?state=lost", staff=IMKE).status == 400


@pytest.mark.check(id="G.create", tier=0, spec="G.4")
def test_a_loan_is_made_with_and_without_a_due_day(desk, store):
    answer = desk.post_json("/api/loans", LOAN, staff=IMKE)
    assert answer.status == 201, answer.text
    loan = part(answer.json(), "loan")
    made = {**LOAN, "checkedOutAt": "2031-11-05T02:10:00.000Z", "returnedAt": None, "condition": None}
    assert loan == {**made, "id": part(loan, "id")}
    closed = desk.post_json(f"/api/loans/{loan['id']}/return", {"condition": "good"}, staff=IMKE)
    assert closed.status == 200, closed.text
    without = desk.post_json("/api/loans", {"itemId": "it-drill", "memberId": "mb-ines"}, staff=IMKE)
    assert without.status == 201, without.text
    assert part(without.json(), "loan", "dueOn") == "2031-11-11"


@pytest.mark.check(id="G.return", tier=0, spec="G.5")
def test_a_loan_is_returned(desk, store):
    answer = desk.post_json("/api/loans/ln-tent/return", {"condition": "good", "note": None}, staff=IMKE)
    assert answer.status == 200, answer.text
    loan = part(answer.json(), "loan")
    told = tuple(part(loan, name) for name in ("id", "returnedAt", "condition"))
    assert told == ("ln-tent", "2031-11-05T02:10:00.000Z", "good")
    row = only((row for row in store.rows("loans") if row["id"] == "ln-tent"), "loan of the tent")
    assert row["returnedAt"] == "2031-11-05T02:10:00.000Z"


@pytest.mark.check(id="G.malformed", tier=1, spec="G.7")
def test_a_body_that_is_no_object_of_the_right_types_is_refused_before_any_read(desk, store):
    bodies = [b"", b"{oops", b"null", b"[]", b'"drill"', b"7", b'{"itemId": 7, "memberId": "mb-ines"}']
    wrong_return = b'{"condition": "good", "note": 7}'
    asked = len(store.trace)
    for path, body in [("/api/loans", body) for body in bodies] + [("/api/loans/ln-tent/return", wrong_return)]:
        answer = desk.request("POST", path, content=body, headers={"content-type": "application/json"}, staff=IMKE)
        assert answer.status == 400, f"{body!r} to {path} answered {answer.status}: {answer.text[:200]}"
        assert isinstance(part(answer.json(), "error"), str)
    assert [operation.name for operation in store.trace[asked:]] == []


@pytest.mark.check(id="G.methods", tier=2, spec="G.8")
def test_other_methods_are_refused(desk):
    for method, path in (("DELETE", "/api/loans"), ("PUT", "/api/loans"), ("GET", "/api/loans/ln-tent/return")):
        answer = desk.request(method, path, staff=IMKE)
        assert answer.status == 405, f"{method} {path} answered {answer.status}"
