"""E. The forms, as a person at the desk uses them."""

import pytest

from pytest_lendbench.bench.store import WRITES, a_loan, a_member, an_item
from pytest_lendbench.rules.claims import only

pytestmark = [pytest.mark.domain(name="E"), pytest.mark.usefixtures("scene")]


@pytest.mark.check(id="E.labels", tier=0, spec="E.1")
def test_every_control_of_the_check_out_form_has_its_label(check_out_form):
    form = check_out_form.open()
    form.screen.expect(form.member).to_be_visible()
    form.screen.expect(form.due_day).to_be_visible()
    form.screen.expect(form.due_day).to_be_editable()


@pytest.mark.check(id="E.return-labels", tier=0, spec="E.4")
def test_every_control_of_the_return_form_has_its_label(return_form):
    form = return_form.open()
    form.screen.expect(form.note).to_be_editable()
    form.screen.expect(form.chosen("Good")).to_have_count(1)
    form.screen.choose("Condition", "Damaged")
    form.screen.expect(form.chosen("Damaged")).to_have_count(1)


@pytest.mark.check(id="E.members", tier=1, spec="E.2")
def test_all_members_are_offered_in_order_and_none_is_chosen(check_out_form):
    form = check_out_form.open()
    form.screen.expect(form.member.locator("option")).to_have_text(
        ["Choose a member", "Ines Abara", "Juri Tamm (suspended)", "Lars Bo", "Oda Dahl"]
    )
    form.screen.expect(form.member.locator("option:checked")).to_have_text("Choose a member")


@pytest.mark.check(id="E.members-present", tier=1, spec="E.2")
def test_the_members_offered_are_those_of_now_and_namesakes_stand_by_id(store, check_out_form):
    check_out_form.open()
    store.seed(
        items=[an_item(id="it-drill", name="Drill", loanDays=7)],
        members=[
            a_member(id="mb-2", name="Ada Roe"),
            a_member(id="mb-9", name="Zoe Ng"),
            a_member(id="mb-10", name="Ada Roe", status="suspended"),
        ],
    )
    form = check_out_form.open()
    form.screen.expect(form.member.locator("option")).to_have_text(
        ["Choose a member", "Ada Roe (suspended)", "Ada Roe", "Zoe Ng"]
    )


@pytest.mark.check(id="E.one-member", tier=2, spec="E.2")
def test_the_only_member_is_offered_and_not_chosen(store, check_out_form):
    store.seed(items=[an_item(id="it-drill", name="Drill")], members=[a_member(name="Ines Abara")])
    form = check_out_form.open()
    form.screen.rest()
    form.screen.expect(form.member.locator("option")).to_have_text(["Choose a member", "Ines Abara"])
    form.screen.expect(form.member.locator("option:checked")).to_have_text("Choose a member")


@pytest.mark.check(id="E.day-text", tier=2, spec="E.5, F.3")
def test_a_due_day_that_is_none_is_answered_by_the_rule(check_out_form, store):
    form = check_out_form.open()
    rule = form.screen.page.get_by_text("Enter the due day as YYYY-MM-DD.").first
    form.submit(member="Ines Abara", due_day="")
    form.screen.expect(rule).to_be_visible()
    form = check_out_form.open()
    form.screen.expect(form.due_day).to_be_visible()
    if form.due_day.get_attribute("type") != "date":  # A date control takes no other text.
        form.screen.choose("Member", "Ines Abara")
        form.screen.enter(form.due_day, "8 Nov 2031")
        form.submit()
        form.screen.expect(rule).to_be_visible()
    assert len(store.rows("loans")) == 2


@pytest.mark.check(id="E.due-day", tier=1, spec="E.3")
def test_the_due_day_starts_at_the_latest_day_which_its_hint_names(check_out_form, store, clock, at_desk):
    store.seed(items=[an_item(id="it-drill", name="Drill", loanDays=28)])
    # In the second case the clocks are put forward within the 28 days.
    for today, value, day in (
        ("2031-11-04 22:40", "2031-12-02", "2 Dec 2031"),
        ("2032-02-20 23:40", "2032-03-19", "19 Mar 2032"),
    ):
        clock(at_desk(today))
        form = check_out_form.open()
        form.screen.expect(form.due_day).to_have_value(value)
        description = form.screen.described(form.due_day)
        assert f"At the latest {day}." in description, f"the control's description is {description!r}"


@pytest.mark.check(id="E.error-shown", tier=0, spec="E.5")
def test_a_broken_rule_is_answered_by_the_page(check_out_form, store):
    form = check_out_form.open()
    form.submit()
    form.screen.expect(form.screen.page.get_by_text("Choose a member.", exact=True)).to_be_visible()
    form.submit(member="Ines Abara", due_day="2031-11-12")
    latest = form.screen.page.get_by_text("This item can be lent until 11 Nov 2031 at the latest.")
    form.screen.expect(latest.first).to_be_visible()
    assert len(store.rows("loans")) == 2, "a loan was written although a rule was broken"


@pytest.mark.check(id="E.error-announced", tier=1, spec="E.6")
def test_an_error_of_the_check_out_is_announced(check_out_form):
    form = check_out_form.open()
    with form.screen.hears("Choose a member."):
        form.submit()


@pytest.mark.check(id="E.return-error-announced", tier=1, spec="E.5, E.6")
def test_an_error_of_the_return_is_announced(return_form):
    form = return_form.open()
    with form.screen.hears("Describe the damage."):
        form.submit(condition="Damaged")


@pytest.mark.check(id="E.overtaken", tier=1, spec="E.6, F.13")
def test_who_comes_second_is_told_the_rule(check_out_form, store, desk):
    form = check_out_form.open()
    form.screen.rest()
    first = desk.post_json("/api/loans", {"itemId": "it-drill", "memberId": "mb-ines"}, staff="st-tomas")
    assert first.status == 201, first.text
    with form.screen.hears("This item is already on loan."):
        form.submit(member="Ines Abara")
    assert form.screen.keeps_focus(), "after the error the focus is on the page's body"
    only((loan for loan in store.rows("loans") if loan["itemId"] == "it-drill"), "loan of the drill")


@pytest.mark.check(id="E.signed-out", tier=2, spec="E.6, E.8, F.1")
def test_who_is_signed_out_meanwhile_is_told_so_and_loses_nothing(check_out_form):
    form = check_out_form.open()
    form.screen.rest()
    form.screen.page.context.clear_cookies()
    with form.screen.hears("Sign in as staff to do this."):
        # Without a member: who may not lend is not told how to.
        form.submit(due_day="2031-11-08")
    form.screen.expect(form.due_day).to_have_value("2031-11-08")


@pytest.mark.check(id="E.error-tied", tier=1, spec="E.7")
def test_an_error_is_tied_to_its_control_as_long_as_it_holds(check_out_form):
    form = check_out_form.open()
    form.submit()
    form.screen.expect(form.member).to_have_attribute("aria-invalid", "true")
    form.screen.pass_time(20)
    form.screen.expect(form.member).to_have_attribute("aria-invalid", "true")
    assert "Choose a member." in form.screen.described(form.member)
    form.submit(member="Ines Abara", due_day="2031-11-04")
    form.screen.expect(form.due_day).to_have_attribute("aria-invalid", "true")
    assert "The due day must be after today." in form.screen.described(form.due_day)
    form.screen.expect(form.member).not_to_have_attribute("aria-invalid", "true")
    assert "Choose a member." not in form.screen.described(form.member)
    form.submit(due_day="2031-11-12")
    text = "This item can be lent until 11 Nov 2031 at the latest."
    form.screen.expect(form.screen.page.get_by_text(text).first).to_be_visible()
    form.screen.expect(form.due_day).to_have_attribute("aria-invalid", "true")
    described = form.screen.described(form.due_day)
    assert text in described
    assert "At the latest 11 Nov 2031." in described.replace(text, ""), f"the hint has gone: {described!r}"


@pytest.mark.check(id="E.return-error-tied", tier=1, spec="E.7")
def test_an_error_of_the_return_is_tied_to_its_control_as_long_as_it_holds(return_form):
    form = return_form.open()
    form.screen.expect(form.note).not_to_have_attribute("aria-invalid", "true")
    form.submit(condition="Damaged")
    form.screen.expect(form.note).to_have_attribute("aria-invalid", "true")
    form.screen.pass_time(20)
    form.screen.expect(form.note).to_have_attribute("aria-invalid", "true")
    assert "Describe the damage." in form.screen.described(form.note)
    form.submit(note="x" * 201)
    form.screen.expect(form.screen.page.get_by_text("A note has at most 200 characters.").first).to_be_visible()
    form.screen.rest()
    form.screen.expect(form.note).to_have_attribute("aria-invalid", "true")
    described = form.screen.described(form.note)
    assert "A note has at most 200 characters." in described
    assert "Describe the damage." not in described, f"the error before is still there: {described!r}"


@pytest.mark.check(id="E.input-kept", tier=1, spec="E.8")
def test_what_was_entered_stays_after_an_error(check_out_form):
    form = check_out_form.open()
    form.submit(member="Juri Tamm (suspended)", due_day="2031-11-08")
    form.screen.expect(form.screen.page.get_by_text("Juri Tamm is suspended and cannot borrow.").first).to_be_visible()
    form.screen.rest()
    form.screen.expect(form.member.locator("option:checked")).to_have_text("Juri Tamm (suspended)")
    form.screen.expect(form.due_day).to_have_value("2031-11-08")


@pytest.mark.check(id="E.return-input-kept", tier=1, spec="E.8")
def test_what_was_entered_in_a_return_stays_after_an_error(return_form):
    form = return_form.open()
    too_long = "x" * 201
    form.screen.choose("Condition", "Damaged")
    form.screen.enter(form.note, too_long)
    form.submit()
    form.screen.expect(form.screen.page.get_by_text("A note has at most 200 characters.").first).to_be_visible()
    form.screen.rest()
    form.screen.expect(form.note).to_have_value(too_long)
    form.screen.expect(form.chosen("Damaged")).to_have_count(1)


@pytest.mark.check(id="E.busy", tier=1, spec="E.9")
def test_while_a_check_out_is_under_way_its_button_says_so_and_sends_nothing_more(check_out_form, store):
    form = check_out_form.open()
    page = form.screen.page
    with store.held(*WRITES) as held:
        form.submit(member="Ines Abara")
        form.screen.rest()
        assert form.busy_button.first.is_visible(), "while the write is under way the button doesn't say so"
        form.screen.pass_time(3)
        form.screen.expect(form.busy_button).to_be_visible()
        sent = len(form.screen.sent)
        form.screen.click(form.busy_button, even_if_disabled=True)
        page.keyboard.press("Enter")
        if form.due_day.count() and form.due_day.is_enabled():
            form.screen.press(form.due_day, "Enter")
        form.screen.rest()
        assert len(form.screen.sent) == sent, "a second click or Enter sent the form again"
        assert len(held.operations) == 1, f"the store was asked to write {len(held.operations)} times"
    form.screen.expect(page.get_by_text("On loan", exact=True).first).to_be_visible()
    form.screen.rest()
    assert len(form.screen.sent) == sent, "a second click or Enter sent the form again, after the first answer"
    assert len(store.rows("loans")) == 3


@pytest.mark.check(id="E.return-busy", tier=1, spec="E.9")
def test_while_a_return_is_under_way_its_button_says_so_and_sends_nothing_more(return_form, store):
    form = return_form.open()
    with store.held(*WRITES) as held:
        form.submit()
        form.screen.rest()
        assert form.busy_button.first.is_visible(), "while the write is under way the button doesn't say so"
        form.screen.pass_time(3)
        form.screen.expect(form.busy_button).to_be_visible()
        sent = len(form.screen.sent)
        form.screen.click(form.busy_button, even_if_disabled=True)
        form.screen.rest()
        assert len(form.screen.sent) == sent, "a second click sent the form again"
        assert len(held.operations) == 1, f"the store was asked to write {len(held.operations)} times"
    form.screen.expect(form.screen.page.get_by_role("button", name="Check out")).to_be_visible()
    form.screen.rest()
    assert len(form.screen.sent) == sent, "a second click sent the form again, after the first answer"


@pytest.mark.check(id="E.success", tier=0, spec="E.10")
def test_after_a_check_out_the_page_shows_the_new_state(check_out_form):
    form = check_out_form.open()
    form.screen.page.evaluate("() => { window.sameDocument = true; }")
    form.submit(member="Ines Abara", due_day="2031-11-10")
    page = form.screen.page
    form.screen.expect(page.get_by_role("button", name="Return item")).to_be_visible()
    form.screen.expect(page.get_by_text("Due 10 Nov 2031").first).to_be_visible()
    form.screen.expect(form.button).to_have_count(0)
    assert page.evaluate("() => window.sameDocument"), "the page was loaded anew"


@pytest.mark.check(id="E.success-announced", tier=1, spec="E.10")
def test_a_check_out_is_announced(check_out_form, store):
    # To a pattern's replacement `$&` means something, and the sentence has a DAY of its own.
    store.seed(items=[an_item(id="it-drill", loanDays=7)], members=[a_member(name="Doris DAY $& Co")])
    form = check_out_form.open()
    with form.screen.hears("Checked out to Doris DAY $& Co until 11 Nov 2031."):
        form.submit(member="Doris DAY $& Co")


@pytest.mark.check(id="E.return-announced", tier=1, spec="E.10")
def test_a_return_is_announced(return_form):
    form = return_form.open()
    with form.screen.hears("Returned."):
        form.submit()


@pytest.mark.check(id="E.success-again", tier=2, spec="E.10")
def test_every_success_is_announced_also_on_one_page(return_form, check_out_form):
    screen = return_form.open().screen
    with screen.hears("Returned."):
        return_form.submit()
    with screen.hears("Checked out to Ines Abara until 18 Nov 2031."):
        check_out_form.submit(member="Ines Abara")
    with screen.hears("Returned."):
        return_form.submit()


@pytest.mark.check(id="E.vanished", tier=2, spec="E.6, E.7, F.5, F.18")
def test_who_refers_to_what_has_gone_is_told_so(check_out_form, return_form, store):
    form = check_out_form.open()
    form.screen.choose("Member", "Ines Abara")
    store.seed(items=[an_item(id="it-drill", name="Drill"), an_item(id="it-tent", name="Tent")], members=[a_member()])
    with form.screen.hears("This member does not exist."):
        form.submit()
    form.screen.expect(form.member).to_have_attribute("aria-invalid", "true")
    assert "This member does not exist." in form.screen.described(form.member)
    store.seed(items=[an_item(id="it-tent", name="Tent")], members=[a_member()], loans=[a_loan(itemId="it-tent")])
    return_form.open().screen.rest()
    store.seed(items=[an_item(id="it-tent", name="Tent")], members=[a_member()])
    with return_form.screen.hears("This loan does not exist."):
        return_form.submit()


@pytest.mark.check(id="E.focus-kept", tier=2, spec="E.11")
def test_the_focus_is_not_lost_by_a_submission(check_out_form):
    form = check_out_form.open()
    form.submit()
    form.screen.expect(form.screen.page.get_by_text("Choose a member.", exact=True)).to_be_visible()
    assert form.screen.keeps_focus(), "after an error the focus is on the page's body"
    form.submit(member="Ines Abara")
    form.screen.expect(form.screen.page.get_by_role("button", name="Return item")).to_be_visible()
    assert form.screen.keeps_focus(), "after a success the focus is on the page's body"


@pytest.mark.check(id="E.keyboard", tier=2, spec="E.12")
def test_an_item_can_be_lent_and_returned_by_keyboard_alone(check_out_form, return_form, store):
    form = check_out_form.open()
    keyboard = form.screen.page.keyboard
    form.screen.tab_to(form.member)
    keyboard.type("Ines")
    form.screen.tab_to(form.button)
    keyboard.press("Enter")
    form.screen.expect(return_form.button).to_be_visible()
    form.screen.tab_to(return_form.button)
    keyboard.press("Enter")
    form.screen.expect(form.button).to_be_visible()
    loan = only((loan for loan in store.rows("loans") if loan["itemId"] == "it-drill"), "loan of the drill")
    assert (loan["memberId"], loan["condition"]) == ("mb-ines", "good")


@pytest.mark.check(id="E.return-keyboard", tier=2, spec="E.12")
def test_a_damaged_item_can_be_returned_by_keyboard_alone(return_form, store):
    form = return_form.open()
    keyboard = form.screen.page.keyboard
    form.screen.tab_to(form.condition)
    # The first letter chooses in a select, the arrow in a group of radio buttons.
    keyboard.type("D")
    if not form.chosen("Damaged").count():
        keyboard.press("ArrowDown")
    form.screen.expect(form.chosen("Damaged")).to_have_count(1)
    form.screen.tab_to(form.note)
    keyboard.type("The zip is torn.")
    form.screen.tab_to(form.button)
    keyboard.press("Enter")
    done = form.screen.page.get_by_text("This item is in maintenance and cannot be lent.")
    form.screen.expect(done).to_be_visible()
    loan = only((loan for loan in store.rows("loans") if loan["id"] == "ln-tent"), "loan of the tent")
    assert (loan["condition"], loan["note"]) == ("damaged", "The zip is torn.")
