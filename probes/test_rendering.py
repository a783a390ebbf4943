"""What only a real browser shows."""

import pytest

from pytest_lendbench.bench.store import an_item

pytestmark = [pytest.mark.domain(name="P"), pytest.mark.usefixtures("scene")]


@pytest.mark.probe(
    id="P.axe-clean",
    tier=2,
    why="Accessibility faults that an engine finds are found by people first. Every state of a page counts.",
)
def test_axe_finds_nothing_in_any_state(staff, forms, axe):
    page = staff.page
    staff.open("/items")
    staff.expect(page.get_by_role("article")).to_have_count(4)
    axe(staff, "the catalogue")
    staff.open("/items?q=zeppelin")
    axe(staff, "the empty catalogue")
    form = forms.check_out(staff).open()
    axe(staff, "the check-out form")
    form.submit()
    staff.expect(page.get_by_text("Choose a member.", exact=True)).to_be_visible()
    axe(staff, "the check-out form with an error")
    form.submit(member="Ines Abara")
    staff.expect(page.get_by_role("button", name="Return item")).to_be_visible()
    axe(staff, "the page after a check-out")


@pytest.mark.probe(
    id="P.hydration-clean",
    tier=2,
    why="Times and numbers written in the zone and language of whoever renders them differ between server and browser.",
)
@pytest.mark.parametrize(
    ("zone", "locale"), [("Pacific/Kiritimati", "de-DE"), ("America/Los_Angeles", "en-US")], ids=["ahead", "behind"]
)
def test_server_and_browser_agree_in_far_time_zones(zone, locale, screens, forms):
    screen = screens(staff="st-imke", timezone_id=zone, locale=locale)
    screen.open("/items")
    screen.expect(screen.page.get_by_text("Due 12 Nov 2031")).to_be_visible()
    forms.check_out(screen).open()
    screen.open("/items/it-tent")
    screen.expect(screen.page.get_by_text("Due 12 Nov 2031").first).to_be_visible()
    screen.rest()
    assert screen.complaints == []


@pytest.mark.probe(
    id="P.narrow",
    tier=2,
    why="On a phone, or enlarged to 400 %, a page that scrolls sideways can't be read.",
)
def test_nothing_scrolls_sideways_at_320_pixels(screens, store):
    store.seed(items=[an_item(id="it-long", name="Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbau" * 2)])
    screen = screens(staff="st-imke", viewport={"width": 320, "height": 640})
    for path in ("/items", "/items/it-long"):
        screen.open(path)
        screen.expect(screen.page.get_by_role("heading", name="Donaudampf").first).to_be_visible()
        wide = screen.page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= 320, f"{path} is {wide} pixels wide in a window of 320"
