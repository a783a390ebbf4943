"""What is sent beyond what is shown, and who is believed."""

from urllib.parse import parse_qs, urlsplit

import pytest

from pytest_lendbench.bench.store import CANARY, CANARY_CENTS, READS, WRITES, a_loan, a_member, an_item

pytestmark = [pytest.mark.domain(name="P"), pytest.mark.usefixtures("scene")]

IMKE = "st-imke"


@pytest.mark.probe(
    id="P.private-fields",
    tier=1,
    why="Whole rows given to client components end up in the page's payload, whatever is displayed.",
)
def test_fields_that_no_page_shows_are_not_sent(store, desk):
    secrets = {
        str(row[field])
        for table, fields in (("items", ("serialNumber", "purchasePriceCents")), ("members", ("privateNote", "email")))
        for row in store.rows(table)
        for field in fields
    }
    for path in ("/items", "/items/it-drill", "/items/it-tent"):
        for staff in (None, IMKE):
            sent = desk.get(path, staff=staff).text
            assert "Drill" in sent or "Tent" in sent, f"{path} sent nothing of the item"
            leaked = sorted(secret for secret in secrets if secret in sent)
            assert not leaked, f"{path} sent to {staff or 'a visitor'} holds {leaked}"


@pytest.mark.probe(
    id="P.private-history",
    tier=1,
    why="What a desk noted about a return, and who stood there, is the staff's. A history needs neither.",
)
def test_the_history_sends_no_note_and_no_staff(store, desk):
    store.seed(
        items=[an_item(id="it-tent", name="Tent")],
        members=[a_member(id="mb-ines", name="Ines Abara")],
        loans=[
            a_loan(
                id="ln-1",
                itemId="it-tent",
                memberId="mb-ines",
                checkedOutBy="st-tomas",
                returnedAt="2031-11-03T15:00:00.000Z",
                returnedBy="st-nkechi",
                condition="good",
                note="He was rude.",
            )
        ],
    )
    for staff in (None, IMKE):
        sent = desk.get("/items/it-tent", staff=staff).text
        assert "3 Nov 2031" in sent, "the history does not say when the tent came back"
        leaked = [words for words in ("He was rude.", "st-tomas", "st-nkechi") if words in sent]
        assert not leaked, f"the page sent to {staff or 'a visitor'} holds {leaked}"


@pytest.mark.probe(
    id="P.action-answer",
    tier=1,
    why="What a Server Action returns is sent to the browser, all of it.",
)
def test_the_answer_to_the_form_holds_nothing_private(check_out_form, desk):
    form = check_out_form.open()
    request = form.screen.catch(lambda: form.submit(member="Ines Abara"))
    sent = desk.replay(request, staff=IMKE).text
    assert "11 Nov 2031" in sent or "2031-11-11" in sent, f"the answer says nothing of the new loan: {sent[:300]}"
    leaked = [words for words in (CANARY, str(CANARY_CENTS), "ottoline.varga@example.org") if words in sent]
    assert not leaked, f"the answer to the form's request holds {leaked}"


@pytest.mark.probe(
    id="P.error-leak",
    tier=1,
    why="The text of an internal error tells strangers how the inside looks.",
)
def test_an_internal_error_keeps_its_text_to_itself(store, desk):
    give_back = ("/api/loans/ln-tent/return", {"condition": "good"})
    with store.fail(*READS, *WRITES):
        answers = [
            desk.get("/items", staff=IMKE),
            desk.get("/items/it-tent", staff=IMKE),
            desk.get("/api/loans", staff=IMKE),
            desk.post_json("/api/loans", {"itemId": "it-drill", "memberId": "mb-ines"}, staff=IMKE),
            desk.post_json(*give_back, staff=IMKE),
        ]
        asked = store.asked()
    assert len(asked) >= len(answers), f"of {len(answers)} requests not each has met the failing store: {asked}"
    telling = [answer.label for answer in answers if CANARY in answer.text]
    assert not telling, f"the store's own error text is in the answers to {telling}"


@pytest.mark.probe(
    id="P.forged-session",
    tier=1,
    why="A cookie can be typed in. That there is one says nothing about who sends it.",
)
def test_a_forged_cookie_is_a_visitors(store, desk):
    before = store.rows("loans")
    for cookie in ("st-imke", "st-imke.", f"st-imke.{'0' * 64}", "st-nobody.x"):
        forged = {"cookie": f"desk_session={cookie}"}
        page = desk.get("/items/it-tent", headers=forged).text
        assert "Sign in to lend or return" in page, f"with the cookie {cookie} the page is no visitor's"
        assert "Lars Bo" not in page, f"with the cookie {cookie} the page names the borrower"
        answers = [
            desk.get("/api/loans", headers=forged),
            desk.post_json("/api/loans", {"itemId": "it-drill", "memberId": "mb-ines"}, headers=forged),
            desk.post_json("/api/loans/ln-tent/return", {"condition": "good"}, headers=forged),
        ]
        assert [answer.status for answer in answers] == [401] * 3, f"with the cookie {cookie}"
    assert store.rows("loans") == before


@pytest.mark.probe(
    id="P.next-parameter",
    tier=2,
    why="An id can hold what means something in an address. Unencoded, it sends a person elsewhere after signing in.",
)
def test_the_way_to_sign_in_leads_back_to_the_item(store, visit):
    store.seed(items=[an_item(id="a&next=//evil.example/#x", name="Odd one")])
    path = "/items/a%26next%3D%2F%2Fevil.example%2F%23x"
    link = visit(path).link("Sign in to lend or return")
    assert link is not None, "a visitor is not shown the way to sign in"
    assert parse_qs(urlsplit(link).query) == {"next": [path]}, f"the link leads to {link}"
    assert not urlsplit(link).fragment, f"the link leads to {link}"
