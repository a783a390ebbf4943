"""What only a real browser shows."""

import pytest

from pytest_lendbench.bench.store import an_item

pytestmark = [pytest.mark.domain(name="P"), pytest.mark.usefixtures("scene")]


@pytest.mark.probe(
    id="P.axe-clean",
    tier=2,
    why="Accessibility faults that an engine finds are found by people first. Every state of a page counts.",
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_state(scheme, screens, forms, axe):
    # Only contrast depends on the scheme.
    rules = ["color-contrast"] if scheme == "dark" else []
    screen = screens(staff="st-imke", color_scheme=scheme)
    screen.open("/items")
    screen.expect(screen.page.get_by_role("article")).to_have_count(4)
    axe(screen, "the catalogue", *rules)
    screen.open("/items?q=zeppelin")
    axe(screen, "the empty catalogue", *rules)
    form = forms.check_out(screen).open()
    axe(screen, "the check-out form", *rules)
    form.submit()
    screen.expect(screen.page.get_by_text("Choose a member.", exact=True)).to_be_visible()
    axe(screen, "the check-out form with an error", *rules)
    form.submit(member="Ines Abara")
    screen.expect(screen.page.get_by_role("button", name="Return item")).to_be_visible()
    axe(screen, "the page after a check-out", *rules)


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
