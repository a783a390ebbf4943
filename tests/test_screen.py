"""What a person sees and hears on a page, in a real browser."""

import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import sync_playwright
from still import StillServer

from pytest_lendbench.bench.browser import find_browser
from pytest_lendbench.bench.pages import Pages
from pytest_lendbench.bench.screen import PAGE_SCRIPT, Screen
from pytest_lendbench.rules.errors import CandidateFault


@pytest.fixture(scope="module")
def browser():
    executable = find_browser().executable
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def screen(browser):
    context = browser.new_context()
    context.add_init_script(PAGE_SCRIPT)
    yield Screen(context.new_page(), StillServer(), "t1")
    context.close()


@pytest.fixture
def shown(screen):
    def show(html):
        screen.open(urllib.parse.quote(html))
        return screen

    return show


BUTTON = '<button onclick="{}">Go</button>'


def press(screen):
    screen.click(screen.page.get_by_role("button", name="Go"))


def test_a_live_region_that_was_there_announces_what_comes_into_it(shown):
    screen = shown("<p role=status></p>" + BUTTON.format("document.querySelector('p').textContent = 'Done.'"))
    with screen.hears("Done."):
        press(screen)


def test_a_page_cannot_answer_in_the_graders_place(shown):
    forge = "<script>window.lendbench.announced = () => 'focus'; window.lendbench = {};</script>"
    screen = shown(forge + "<p></p>" + BUTTON.format("document.querySelector('p').textContent = 'Done.'"))
    with pytest.raises(CandidateFault, match="not announced"), screen.hears("Done."):
        press(screen)


def test_what_was_said_may_go_again(shown):
    say = (
        "const p = document.querySelector('p'); p.textContent = 'Done.'; setTimeout(() => p.firstChild.remove(), 3000)"
    )
    screen = shown("<p role=status></p>" + BUTTON.format(say))
    with screen.hears("Done."):
        press(screen)


def test_a_region_that_goes_with_its_text_announces_nothing(shown):
    say = "const p = document.querySelector('p'); p.textContent = 'Done.'; setTimeout(() => p.remove(), 3000)"
    screen = shown("<p role=status></p>" + BUTTON.format(say))
    with pytest.raises(CandidateFault, match="not announced"), screen.hears("Done."):
        press(screen)


def test_a_region_that_comes_with_its_text_announces_nothing(shown):
    add = "document.body.insertAdjacentHTML('beforeend', '<p role=status>Done.</p>')"
    screen = shown(BUTTON.format(add))
    with pytest.raises(CandidateFault, match="not announced"), screen.hears("Done."):
        press(screen)


def test_a_text_that_just_stays_is_not_announced_again(shown):
    screen = shown("<p role=status>Done.</p>" + BUTTON.format(""))
    with pytest.raises(CandidateFault, match="not announced"), screen.hears("Done."):
        press(screen)
    again = "const p = document.querySelector('p'); p.textContent = ''; p.textContent = 'Done.'"
    screen = shown("<p role=status>Done.</p>" + BUTTON.format(again))
    with screen.hears("Done."):
        press(screen)


def test_the_focus_announces_a_text_or_what_describes_the_control(shown):
    come = "document.getElementById('e').textContent = 'Wrong.'; document.getElementById('{}').focus()"
    page = "<input id=c aria-describedby=e><p id=e tabindex=-1></p>"
    for focused in ("e", "c"):
        screen = shown(page + BUTTON.format(come.format(focused)))
        with screen.hears("Wrong."):
            press(screen)
    screen = shown(page + BUTTON.format(come.replace(".focus()", "")))
    with pytest.raises(CandidateFault, match="not announced"), screen.hears("Wrong."):
        press(screen)


def test_what_is_put_into_a_control_meets_its_limit(shown):
    screen = shown("<label>Note <textarea maxlength=5>old</textarea></label>")
    screen.enter(screen.page.get_by_label("Note"), "1234567")
    screen.expect(screen.page.get_by_label("Note")).to_have_value("12345")


def test_a_focus_on_the_body_is_lost(shown):
    screen = shown(BUTTON.format("this.remove()"))
    screen.tab_to(screen.page.get_by_role("button"))
    assert screen.keeps_focus()
    press(screen)
    assert not screen.keeps_focus()


def test_what_is_not_there_once_the_page_rests_fails(shown):
    screen = shown("<h1>Items</h1>")
    with pytest.raises(AssertionError, match="Tent"):
        screen.expect(screen.page.get_by_role("heading", name="Tent")).to_be_visible()


def test_a_wrong_attribute_is_named(shown):
    screen = shown("<button aria-busy=true>Go</button>")
    with pytest.raises(AssertionError, match=r"is expected not to have attribute aria-busy='true'"):
        screen.expect(screen.page.get_by_role("button")).not_to_have_attribute("aria-busy", "true")


def test_what_comes_late_is_waited_for(shown):
    late = "setTimeout(() => { document.body.insertAdjacentHTML('beforeend', '<h1>Tent</h1>'); }, 900)"
    screen = shown(BUTTON.format(late))
    press(screen)
    screen.expect(screen.page.get_by_role("heading", name="Tent")).to_be_visible()


def test_a_click_that_takes_long_is_one_click(shown):
    # Longer than Playwright is given to look for something, and what was clicked is gone afterwards.
    wait = "const since = performance.now(); while (performance.now() - since < 1500);"
    work = f"{wait} document.title += 'x'; this.hidden = true"
    screen = shown("<title>x</title>" + BUTTON.format(work))
    press(screen)
    screen.expect_page().to_have_title("xx")
    assert screen.page.get_by_role("button").count() == 0


def test_a_page_that_hangs_in_a_click_is_the_candidates(browser, monkeypatch):
    monkeypatch.setattr("pytest_lendbench.bench.screen._ACT_S", 1.0)
    context = browser.new_context()
    context.add_init_script(PAGE_SCRIPT)
    screen = Screen(context.new_page(), StillServer(), "t1")
    screen.open(urllib.parse.quote(BUTTON.format("const since = Date.now(); while (Date.now() - since < 8000);")))
    with pytest.raises(CandidateFault, match="performing click action"):
        press(screen)
    context.close()


@pytest.mark.parametrize("way", ["disabled", "hidden", "aria-disabled=true"])
def test_a_button_that_cannot_be_clicked_is_the_candidates(way, shown):
    screen = shown(f"<button {way}>Go</button>")
    with pytest.raises((AssertionError, CandidateFault)):
        press(screen)


def test_what_lies_above_a_button_is_the_candidates(shown, monkeypatch):
    monkeypatch.setattr("pytest_lendbench.bench.screen._ACT_S", 1.0)
    screen = shown('<div style="position:fixed;inset:0">Wait</div>' + BUTTON.format(""))
    with pytest.raises(CandidateFault, match="intercepts pointer events"):
        press(screen)


def test_elsewhere_a_page_has_another_zone_and_language_and_afterwards_its_own(shown):
    where = "() => [Intl.DateTimeFormat().resolvedOptions().timeZone, (1.5).toLocaleString()]"
    screen = shown("<p>")
    at_home = screen.page.evaluate(where)
    with screen.elsewhere("Pacific/Kiritimati", "de-DE"):
        screen.open(urllib.parse.quote("<p>"))
        assert screen.page.evaluate(where) == ["Pacific/Kiritimati", "1,5"]
    screen.open(urllib.parse.quote("<p>"))
    assert screen.page.evaluate(where) == at_home


class CookieServer(StillServer):
    def staff_cookie(self, staff):
        return f"desk_session={staff}"


class Tags:
    def new_tag(self):
        return "t1"


def test_after_something_went_wrong_no_page_is_used_again(browser):
    pages = Pages(browser)
    two = [pages.screen(CookieServer(), Tags(), None, {}) for _ in range(2)]
    pages.give_back("http://127.0.0.1:1", clean=True)
    pages.screen(CookieServer(), Tags(), None, {})
    pages.give_back("http://127.0.0.1:1", clean=False)
    assert all(screen.page.is_closed() for screen in two)


@pytest.fixture
def still_site():
    """The address of a server with an empty page."""

    class Empty(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_page_that_is_used_again_is_as_new(browser, still_site):
    pages = Pages(browser)
    first = pages.screen(CookieServer(), Tags(), None, {})
    first.page.set_viewport_size({"width": 320, "height": 640})
    first.page.emulate_media(color_scheme="dark", reduced_motion="no-preference")
    first.page.goto(still_site)
    first.page.evaluate("() => { window.name = sessionStorage.draft = localStorage.draft = 'mine'; }")
    pages.give_back(still_site, clean=True)
    again = pages.screen(CookieServer(), Tags(), None, {})
    assert again.page is first.page
    assert again.page.viewport_size == {"width": 1280, "height": 720}
    dark, still = (
        again.page.evaluate("query => matchMedia(query).matches", query)
        for query in ("(prefers-color-scheme: dark)", "(prefers-reduced-motion: reduce)")
    )
    assert (dark, still) == (False, True)
    again.page.goto(still_site)
    assert again.page.evaluate("() => [window.name, sessionStorage.length, localStorage.length]") == ["", 0, 0]
    pages.give_back("http://127.0.0.1:1", clean=False)
