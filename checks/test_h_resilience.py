"""H. While it waits, when it fails."""

import pytest

from pytest_lendbench.bench.document import Document
from pytest_lendbench.bench.store import CANARY, READS, WRITES

pytestmark = [pytest.mark.domain(name="H"), pytest.mark.usefixtures("scene")]

IMKE = "st-imke"
SAVED_NOTHING = "Nothing was saved. Try again."


@pytest.mark.check(id="H.loading", tier=1, spec="H.1")
def test_the_catalogue_shows_its_frame_before_its_data(desk, store):
    with store.held(*READS) as held, desk.opening("/items") as opening:
        store.settle()
        assert held.waiting, "the catalogue asked the store for nothing"
        shown = Document(opening.received_text())
        assert "Loading items…" in shown.text, f"while the data is held back the page says: {shown.text or 'nothing'}"
        assert "Items" in [heading.get_text() for heading in shown.soup.find_all("h1")]
        assert shown.names() == []
        held.release()
        assert "Drill" in Document(opening.finish().text).names(), "once the data has come the page lacks its items"


@pytest.mark.check(id="H.error", tier=1, spec="H.2")
def test_a_failing_read_is_answered_in_the_pages_place(visitor, store):
    with store.fail(*READS):
        for path in ("/items", "/items/it-drill"):
            visitor.open(path)
            page = visitor.page
            visitor.expect(page.get_by_role("heading", name="Items are not available right now")).to_be_visible()
            visitor.expect(page.get_by_role("button", name="Try again")).to_be_visible()
            visitor.expect(page.locator("body")).not_to_contain_text(CANARY)


@pytest.mark.check(id="H.retry", tier=2, spec="H.3")
def test_try_again_brings_the_items_without_a_reload(visitor, store):
    page = visitor.page
    again = page.get_by_role("button", name="Try again")
    with store.fail(*READS):
        visitor.open("/items")
        visitor.expect(again).to_be_visible()
    page.evaluate("() => { window.sameDocument = true; }")
    visitor.click(again)
    visitor.expect(page.get_by_role("heading", name="Drill")).to_be_visible()
    assert page.evaluate("() => window.sameDocument"), "the page was loaded anew"


@pytest.mark.check(id="H.write-fails", tier=1, spec="H.4")
def test_a_failing_write_is_said_and_loses_nothing(check_out_form, store):
    form = check_out_form.open()
    with store.fail(*WRITES):
        with form.screen.hears(SAVED_NOTHING):
            form.submit(member="Ines Abara", due_day="2031-11-08")
        form.screen.expect(form.member.locator("option:checked")).to_have_text("Ines Abara")
        form.screen.expect(form.due_day).to_have_value("2031-11-08")
    form.submit()
    form.screen.expect(form.screen.page.get_by_role("button", name="Return item")).to_be_visible()


@pytest.mark.check(id="H.api-write-fails", tier=1, spec="H.4")
def test_a_failing_write_is_the_apis_500_with_the_text(desk, store):
    with store.fail(*WRITES):
        lent = desk.post_json("/api/loans", {"itemId": "it-drill", "memberId": "mb-ines"}, staff=IMKE)
        returned = desk.post_json("/api/loans/ln-tent/return", {"condition": "good"}, staff=IMKE)
    answers = [(answer.status, answer.json()) for answer in (lent, returned)]
    assert answers == [(500, {"error": SAVED_NOTHING})] * 2


@pytest.mark.check(id="H.loading-by-link", tier=2, spec="H.1")
def test_on_the_way_to_the_catalogue_a_person_is_told_that_it_loads(visitor, store):
    page = visitor.page
    visitor.open("/members")
    with store.held(*READS) as held:
        visitor.click(page.get_by_role("navigation", name="Main").get_by_role("link", name="Items"))
        visitor.expect(page.get_by_role("status").filter(has_text="Loading items…")).to_be_visible()
        visitor.expect(page.get_by_role("heading", name="Items", level=1)).to_be_visible()
        held.release()
    visitor.expect(page.get_by_role("heading", name="Drill")).to_be_visible()
    visitor.expect(page.get_by_text("Loading items…")).to_have_count(0)


@pytest.mark.check(id="H.retry-item", tier=2, spec="H.3")
def test_try_again_brings_the_item_without_a_reload(visitor, store):
    page = visitor.page
    again = page.get_by_role("button", name="Try again")
    with store.fail(*READS):
        visitor.open("/items/it-drill")
        visitor.expect(again).to_be_visible()
        visitor.click(again)
        visitor.rest()
        visitor.expect(again).to_be_visible()
    page.evaluate("() => { window.sameDocument = true; }")
    visitor.click(again)
    visitor.expect(page.get_by_role("heading", name="Drill", level=1)).to_be_visible()
    assert page.evaluate("() => window.sameDocument"), "the page was loaded anew"


@pytest.mark.check(id="H.return-fails", tier=1, spec="H.4")
def test_a_failing_return_is_said_and_loses_nothing(return_form, store):
    form = return_form.open()
    with store.fail(*WRITES):
        with form.screen.hears(SAVED_NOTHING):
            form.submit(condition="Damaged", note="The zip is torn.")
        form.screen.expect(form.chosen("Damaged")).to_have_count(1)
        form.screen.expect(form.note).to_have_value("The zip is torn.")
    form.submit()
    done = form.screen.page.get_by_text("This item is in maintenance and cannot be lent.")
    form.screen.expect(done).to_be_visible()


@pytest.mark.check(id="H.read-fails", tier=2, spec="H.4")
def test_a_read_that_fails_before_the_write_is_said_and_loses_nothing(check_out_form, store):
    form = check_out_form.open()
    form.screen.rest()
    with store.fail(*READS):
        with form.screen.hears(SAVED_NOTHING):
            form.submit(member="Ines Abara", due_day="2031-11-08")
        form.screen.expect(form.member.locator("option:checked")).to_have_text("Ines Abara")
        form.screen.expect(form.due_day).to_have_value("2031-11-08")
    assert len(store.rows("loans")) == 2


@pytest.mark.check(id="H.api-read-fails", tier=1, spec="H.4")
def test_a_failing_read_is_the_apis_500_with_the_text(desk, store):
    before = store.rows("loans")
    with store.fail(*READS):
        listed = desk.get("/api/loans", staff=IMKE)
        lent = desk.post_json("/api/loans", {"itemId": "it-drill", "memberId": "mb-ines"}, staff=IMKE)
    assert (listed.status, listed.json()) == (500, {"error": "The loans are not available right now."})
    assert (lent.status, lent.json()) == (500, {"error": SAVED_NOTHING})
    assert store.rows("loans") == before
