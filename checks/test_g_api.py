"""G. The API."""

import re

import pytest

from pytest_lendbench.bench.store import a_loan, a_member, an_item
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
    numbers = [(n * 17) % 60 for n in range(60)]
    back = {"returnedBy": IMKE, "condition": "good", "note": "Fine."}
    store.seed(
        items=[an_item()],
        members=[a_member()],
        loans=[
            a_loan(
                id=f"ln-{n}",
                checkedOutAt=f"2031-10-20T15:00:{n:02}.000Z",
                **(back | {"returnedAt": f"2031-11-02T15:00:{(n * 7) % 60:02}.000Z"} if n else {}),
            )
            for n in numbers
        ],
    )
    answer = desk.get("/api/loans", staff=IMKE)
    assert answer.status == 200
    fields = ("id", "itemId", "memberId", "checkedOutAt", "dueOn", "returnedAt", "condition")
    rows = sorted(store.rows("loans"), key=lambda loan: loan["checkedOutAt"], reverse=True)
    assert answer.headers.get("content-type", "").startswith("application/json")
    assert answer.json() == {"loans": [{field: row[field] for field in fields} for row in rows]}
    returned = desk.get("/api/loans?state=returned", staff=IMKE).json()
    assert texts(part(returned, "loans"), "id") == [row["id"] for row in rows if row["returnedAt"]]


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
    assert ids("itemId=it-tent&memberId=mb-oda") == set()
    assert ids("itemId=it-lamp&memberId=mb-oda") == {"ln-lamp"}
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
    row = only((row for row in store.rows("loans") if row["id"] == "ln-tent"), "loan of the tent")
    assert row["returnedAt"] == "2031-11-05T02:10:00.000Z"
    fields = ("id", "itemId", "memberId", "checkedOutAt", "dueOn", "returnedAt", "condition")
    assert loan == {field: row[field] for field in fields}


@pytest.mark.check(id="G.malformed", tier=1, spec="G.7")
def test_a_body_that_is_no_object_of_the_right_types_is_refused_before_any_read(desk, store):
    bodies = [b"", b"{oops", b"null", b"[]", b'"drill"', b"7", b"true"]
    asked = len(store.trace)
    for path, body in ((path, body) for path in ("/api/loans", "/api/loans/ln-tent/return") for body in bodies):
        answer = desk.request("POST", path, content=body, headers={"content-type": "application/json"}, staff=IMKE)
        assert answer.status == 400, f"{body!r} to {path} answered {answer.status}: {answer.text[:200]}"
        assert isinstance(part(answer.json(), "error"), str)
    assert [operation.name for operation in store.trace[asked:]] == []


@pytest.mark.check(id="G.methods", tier=2, spec="G.8")
def test_other_methods_are_refused(desk):
    give_back = "/api/loans/ln-tent/return"
    refused = [(method, path) for method in ("PUT", "PATCH", "DELETE") for path in ("/api/loans", give_back)]
    for method, path in [*refused, ("GET", give_back)]:
        answer = desk.request(method, path, staff=IMKE)
        assert answer.status == 405, f"{method} {path} answered {answer.status}"
        assert answer.text == "", f"{method} {path} answered 405 with a body: {answer.text[:200]}"


@pytest.fixture
def listed(desk):
    """The ids of the loans that a query asks for."""

    def ids(query=""):
        answer = desk.get(f"/api/loans{query}", staff=IMKE)
        assert answer.status == 200, f"{query or 'the list'} answered {answer.status}: {answer.text[:200]}"
        return texts(part(answer.json(), "loans"), "id")

    return ids


@pytest.mark.check(id="G.odd-filters", tier=2, spec="G.3")
def test_an_empty_filter_filters_nothing_and_of_a_repeated_one_the_first_counts(listed, desk):
    assert set(listed("?itemId=&memberId=&state=")) == {"ln-tent", "ln-lamp"}
    assert listed("?itemId=it-tent&itemId=it-lamp") == ["ln-tent"]
    assert listed("?state=overdue&state=open") == ["ln-lamp"]
    assert listed("?memberId=mb-none") == []
    assert listed("?itemId=it-none") == []
    assert desk.get("/api/loans?state=toString", staff=IMKE).status == 400


@pytest.mark.check(id="G.overdue", tier=1, spec="G.3")
def test_overdue_are_open_loans_whose_day_is_over_at_the_desk(store, listed):
    late = {"returnedAt": "2031-11-03T15:00:00.000Z", "returnedBy": IMKE, "condition": "good"}
    store.seed(
        items=[an_item()],
        members=[a_member()],
        loans=[
            # In UTC and in Tokyo it is the 5th already.
            a_loan(id="ln-today", dueOn="2031-11-04", checkedOutAt="2031-10-01T15:00:00.000Z"),
            a_loan(id="ln-yesterday", dueOn="2031-11-03", checkedOutAt="2031-10-02T15:00:00.000Z"),
            a_loan(id="ln-late", dueOn="2031-10-30", checkedOutAt="2031-10-03T15:00:00.000Z", **late),
        ],
    )
    assert listed("?state=overdue") == ["ln-yesterday"]
    assert listed("?state=open") == ["ln-yesterday", "ln-today"]
    assert listed("?state=returned") == ["ln-late"]


@pytest.mark.check(id="G.present", tier=0, spec="G.1")
def test_the_list_shows_what_was_changed_from_outside(store, listed, desk):
    assert set(listed()) == {"ln-tent", "ln-lamp"}
    store.seed(items=[an_item()], members=[a_member()], loans=[a_loan(id="ln-new")])
    assert listed() == ["ln-new"]
    kept = desk.get("/api/loans", staff=IMKE).headers.get("cache-control", "no-store")
    assert "no-store" in kept or not re.search(r"max-age=[1-9]", kept), f"a browser may keep the list: {kept}"


@pytest.mark.check(id="G.field-types", tier=1, spec="G.7")
def test_a_field_of_a_wrong_type_is_refused_before_any_read(desk, store):
    loan = "/api/loans"
    give_back = "/api/loans/ln-tent/return"
    bodies = [
        (loan, LOAN | {"itemId": None}),
        (loan, LOAN | {"itemId": 0}),
        (loan, LOAN | {"memberId": 7}),
        (loan, LOAN | {"memberId": False}),
        (loan, LOAN | {"memberId": None}),
        (loan, LOAN | {"dueOn": None}),
        (loan, LOAN | {"dueOn": 20311110}),
        (loan, {"itemId": "it-drill", "dueOn": 5}),
        (loan, {"itemId": None, "memberId": ""}),
        (give_back, {"condition": None}),
        (give_back, {"condition": ["good"]}),
        (give_back, {"condition": "good", "note": {"text": "Torn."}}),
        (give_back, {"condition": "good", "note": False}),
        (give_back, {"note": 7}),
    ]
    before, asked = store.rows("loans"), len(store.trace)
    answers = [(path, body, desk.post_json(path, body, staff=IMKE).status) for path, body in bodies]
    wrong = [answer for answer in answers if answer[2] != 400]
    assert not wrong, f"these are not answered 400: {wrong}"
    assert store.rows("loans") == before
    assert [operation.name for operation in store.trace[asked:]] == []


@pytest.mark.check(id="G.missing-fields", tier=2, spec="G.7")
def test_a_missing_field_is_an_empty_one(desk):
    cases = [
        ("/api/loans", {}, 422, "Choose a member."),
        ("/api/loans", {"memberId": "mb-ines"}, 404, "This item does not exist."),
        ("/api/loans/ln-tent/return", {}, 422, "Choose a condition."),
        ("/api/loans/ln-tent/return", {"condition": "damaged"}, 422, "Describe the damage."),
    ]
    for path, body, status, text in cases:
        answer = desk.post_json(path, body, staff=IMKE)
        assert (answer.status, answer.json()) == (status, {"error": text}), f"for {body} to {path}"


@pytest.mark.check(id="G.visitor-first", tier=2, spec="G.7, F.1")
def test_a_visitor_is_answered_401_whatever_the_request_holds(desk, store):
    asked = len(store.trace)
    for path in ("/api/loans", "/api/loans/ln-tent/return", "/api/loans/ln-none/return"):
        for body in (b"", b"{oops", b"[]", b'{"memberId": 7, "condition": 7}'):
            answer = desk.request("POST", path, content=body)
            assert answer.status == 401, f"a visitor's {body!r} to {path} answered {answer.status}"
    assert desk.get("/api/loans?state=lost").status == 401
    assert [operation.name for operation in store.trace[asked:]] == []


@pytest.mark.check(id="G.odd-id", tier=2, spec="G.5")
def test_a_loan_is_returned_whatever_its_id_holds(store, desk):
    store.seed(items=[an_item()], members=[a_member()], loans=[a_loan(id="ln 1/2?%41")])
    answer = desk.post_json("/api/loans/ln%201%2F2%3F%2541/return", {"condition": "good"}, staff=IMKE)
    assert answer.status == 200, answer.text
    assert part(answer.json(), "loan", "id") == "ln 1/2?%41"
