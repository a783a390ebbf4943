"""What only a real browser shows."""

import pytest

from pytest_lendbench.bench.store import READS, WRITES, an_item

pytestmark = [pytest.mark.domain(name="P"), pytest.mark.usefixtures("scene")]

LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbau" * 2


@pytest.mark.probe(
    id="P.axe-clean",
    tier=2,
    why="Accessibility faults that an engine finds are found by people first. Every state of a page counts.",
)
def test_axe_finds_nothing_in_the_catalogue(visitor, axe):
    page = visitor.page
    visitor.open("/items")
    visitor.expect(page.get_by_role("article")).to_have_count(4)
    axe(visitor, "the catalogue")
    visitor.open("/items?q=zeppelin")
    axe(visitor, "the empty catalogue")


@pytest.mark.probe(
    id="P.axe-forms",
    tier=2,
    why="A form that is fine when it is empty can be unreadable once it shows an error, waits or has succeeded.",
)
def test_axe_finds_nothing_in_any_state_of_the_check_out(check_out_form, axe, store):
    form = check_out_form.open()
    page = form.screen.page
    form.submit()
    form.screen.expect(page.get_by_text("Choose a member.", exact=True)).to_be_visible()
    axe(form.screen, "the check-out form with an error")
    with store.held(*WRITES):
        form.submit(member="Ines Abara")
        form.screen.expect(form.busy_button).to_be_visible()
        axe(form.screen, "the check-out form while it waits")
    form.screen.expect(page.get_by_role("button", name="Return item")).to_be_visible()
    axe(form.screen, "the page after a check-out")


@pytest.mark.probe(
    id="P.axe-return",
    tier=2,
    why="The second form is often made from the first in a hurry, and nobody looks at its errors.",
)
def test_axe_finds_nothing_in_a_return_with_an_error(return_form, axe):
    form = return_form.open()
    form.submit(condition="Damaged")
    form.screen.expect(form.screen.page.get_by_text("Describe the damage.").first).to_be_visible()
    axe(form.screen, "the return form with an error")


@pytest.mark.probe(
    id="P.axe-failing",
    tier=2,
    why="Pages for what goes wrong are looked at least and read by people who are in trouble already.",
)
def test_axe_finds_nothing_in_pages_for_what_goes_wrong(visitor, axe, store):
    visitor.open("/items/it-none")
    visitor.expect(visitor.page.get_by_role("heading", name="Item not found")).to_be_visible()
    axe(visitor, "the page of an unknown item")
    with store.fail(*READS):
        visitor.open("/items")
        visitor.expect(visitor.page.get_by_role("button", name="Try again")).to_be_visible()
        axe(visitor, "the error page")


@pytest.mark.probe(
    id="P.target-size",
    tier=2,
    why="What is smaller than 24 pixels and close to another target can't be hit with a thumb or an unsteady hand.",
)
def test_controls_are_large_enough_to_hit(staff, forms, axe):
    staff.page.set_viewport_size({"width": 320, "height": 640})
    staff.open("/items")
    staff.expect(staff.page.get_by_role("article")).to_have_count(4)
    axe(staff, "the catalogue at 320 pixels", only="target-size")
    forms.check_out(staff).open()
    axe(staff, "the check-out form at 320 pixels", only="target-size")
    forms.give_back(staff).open()
    axe(staff, "the return form at 320 pixels", only="target-size")


@pytest.mark.probe(
    id="P.reduced-motion",
    tier=2,
    why="Things that spin or pulse make some people ill; who has asked for less motion gets none.",
)
def test_nothing_moves_for_those_who_asked_for_less_motion(check_out_form, store):
    form = check_out_form
    page = form.screen.page
    form.open()
    with store.held(*WRITES):
        form.submit(member="Ines Abara")
        form.screen.expect(form.busy_button).to_be_visible()
        form.screen.rest()
        moving = page.evaluate(
            "() => document.getAnimations().filter(one => one.playState === 'running')"
            ".map(one => one.effect?.target?.outerHTML.slice(0, 120) ?? '?')"
        )
    assert moving == [], f"while the form waits these move: {moving}"


@pytest.mark.probe(
    id="P.hydration-clean",
    tier=2,
    why="Times and numbers written in the zone and language of whoever renders them differ between server and browser.",
)
def test_server_and_browser_agree_in_far_time_zones(staff, forms):
    due = staff.page.get_by_text("Due 12 Nov 2031").first
    for zone, locale in (("Pacific/Kiritimati", "de-DE"), ("America/Los_Angeles", "fa-IR")):
        with staff.elsewhere(zone, locale):
            staff.open("/items")
            staff.expect(due).to_be_visible()
            staff.rest()
            forms.check_out(staff).open()
            staff.rest()
            staff.open("/items/it-tent")
            staff.expect(due).to_be_visible()
            staff.rest()
        assert not staff.complaints, f"a browser in {zone} ({locale}) complained: {staff.complaints[0]}"


@pytest.mark.probe(
    id="P.narrow",
    tier=2,
    why="On a phone, or enlarged to 400 %, a page that scrolls sideways can't be read.",
)
def test_nothing_scrolls_sideways_at_320_pixels(staff, store):
    store.seed(items=[an_item(id="it-long", name=LONG_WORD)])
    staff.page.set_viewport_size({"width": 320, "height": 640})
    for path in ("/items", "/items/it-long"):
        staff.open(path)
        staff.expect(staff.page.get_by_role("heading", name="Donaudampf").first).to_be_visible()
        wide = staff.page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= 320, f"{path} is {wide} pixels wide in a window of 320"


@pytest.mark.probe(
    id="P.error-again",
    tier=2,
    why="Who makes the same mistake twice hears nothing the second time, if the message just stays where it is.",
)
def test_the_same_error_again_is_announced_again(check_out_form):
    form = check_out_form.open()
    for _ in range(2):
        with form.screen.hears("Choose a member."):
            form.submit()
