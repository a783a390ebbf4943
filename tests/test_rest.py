"""When a page is at rest, in a real browser: what its timers bring is seen, and nobody waits for them."""

import threading
import urllib.parse
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import sync_playwright
from still import StillServer

from pytest_lendbench.bench.browser import find_browser
from pytest_lendbench.bench.screen import PAGE_SCRIPT, Screen
from pytest_lendbench.rules.errors import CandidateFault, InstrumentError


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser().executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    context = browser.new_context()
    context.add_init_script(PAGE_SCRIPT)
    yield context.new_page()
    context.close()


@pytest.fixture
def run(page):
    """A screen whose page runs this script when its button is pressed; `say(text)` adds to what it says."""

    def begin(script):
        screen = Screen(page, StillServer(), "t1")
        say = "const said = document.querySelector('p'); const say = (text) => { said.textContent += text; };"
        html = f"<p></p><button>Go</button><script>{say} document.querySelector('button').onclick = () => {{{script}}};"
        screen.open(urllib.parse.quote(f"{html}</script>"))
        screen.click(page.get_by_role("button"))
        return screen

    return begin


def said(screen):
    screen.rest()
    return screen.page.locator("p").text_content()


def test_timers_fire_in_the_order_in_which_they_are_due(run):
    screen = run(
        "setTimeout(() => say('c'), 3000); setTimeout(say, 2000, 'b'); setTimeout(\"say('d')\", 4000);"
        "setTimeout(() => { say('a'); setTimeout(() => say('+'), 1500); }, 1000);"
    )
    assert said(screen) == "ab+cd"


def test_what_a_timer_takes_away_is_seen_before(run):
    screen = run("setTimeout(() => { say('Done.'); setTimeout(() => { said.textContent = ''; }, 3000); }, 500);")
    screen.expect(screen.page.locator("p")).to_have_text("Done.")
    assert said(screen) == ""


def test_a_timer_whose_time_has_come_meanwhile_does_not_stand_for_the_next(run):
    """Nobody would have looked between the two."""
    screen = run("setTimeout(() => { say('a'); setTimeout(say, 3000, 'b'); }, 500);")
    timer = screen.page.evaluate("() => window.lendbench.still(5000)")
    screen.page.wait_for_function("() => document.querySelector('p').textContent === 'a'")
    screen.page.evaluate("({ id, origin }) => window.lendbench.fire(id, origin)", timer)
    assert screen.page.locator("p").text_content() == "a"
    assert said(screen) == "ab"


def test_a_timer_of_the_document_before_is_none_of_this_one(run):
    """Ids begin anew in each document."""
    screen = run("setTimeout(say, 3000, 'a');")
    timer = screen.page.evaluate("() => window.lendbench.still(5000)")
    assert screen.page.evaluate("({ id, origin }) => window.lendbench.fire(id, origin - 1)", timer) == 0
    assert screen.page.locator("p").text_content() == ""


def test_a_timer_that_was_cleared_does_not_fire(run):
    screen = run("const id = setTimeout(say, 2000, 'b'); setTimeout(() => { say('a'); clearTimeout(id); }, 1000);")
    assert said(screen) == "a"


@pytest.mark.parametrize("clear", ["clearInterval(id)", "clearTimeout(String(id))"])
def test_nor_does_one_that_was_cleared_by_the_other_name_or_as_a_text(run, clear):
    assert said(run(f"const id = setTimeout(say, 2000, 'b'); {clear}; setTimeout(say, 3000, 'a')")) == "a"


def test_a_timer_that_gives_up_does_not_overtake_an_interval(run):
    screen = run(
        "const late = setTimeout(() => { clearInterval(often); say('given up'); }, 4000); let asked = 0;"
        "const stop = () => { clearInterval(often); clearTimeout(late); };"
        "const often = setInterval(() => { if (++asked === 3) { say('here'); stop(); } }, 900);"
    )
    assert said(screen) == "here"


def test_an_interval_alone_is_not_waited_for(run):
    screen = run(
        "let asked = 0; setInterval(() => { said.title = String(++asked); }, 4000); setTimeout(say, 1000, 'a');"
    )
    assert said(screen) == "a"
    assert screen.page.locator("p").get_attribute("title") is None


def test_what_does_not_follow_the_pages_clock_is_looked_for_as_long_as_that_was_put_forward(run):
    screen = run(
        "const since = Date.now(); setTimeout(() => {}, 4000);"
        "const more = () => Date.now() - since < 2000 ? requestAnimationFrame(more) : say('here'); more();"
    )
    screen.expect(screen.page.locator("p")).to_have_text("here")


def test_what_comes_after_five_seconds_is_no_answer(run):
    screen = run("setTimeout(say, 5001, 'x'); setTimeout(() => { say('a'); setTimeout(say, 3000, 'x'); }, 3000);")
    assert said(screen) == "a"


def test_the_pages_clock_can_be_put_forward(run):
    screen = run("setTimeout(say, 12000, 'b'); setTimeout(say, 10000, 'a'); setTimeout(say, 30000, 'x');")
    assert said(screen) == ""
    screen.pass_time(20)
    assert screen.page.locator("p").text_content() == "ab"


def test_then_intervals_count_too(run):
    screen = run("let left = 8; setInterval(() => { if (--left === 0) say('over'); }, 1000);")
    assert said(screen) == ""
    screen.pass_time(20)
    assert screen.page.locator("p").text_content() == "over"


def test_a_page_that_is_never_without_a_timer_comes_to_rest(run):
    assert said(run("const more = () => { say('.'); setTimeout(more); }; more();"))


def test_a_timer_that_fails_is_complained_about_and_the_next_one_fires(run):
    screen = run("setTimeout(() => { throw new Error('oops'); }, 1000); setTimeout(say, 2000, 'b');")
    assert said(screen) == "b"
    assert screen.complaints == ["oops"]


def test_a_timer_that_never_ends_is_the_candidates(run, monkeypatch):
    screen = run("setTimeout(() => { for (const since = Date.now(); Date.now() - since < 8000; ); }, 1000);")
    monkeypatch.setattr("pytest_lendbench.bench.rest.BOUND_S", 1.0)
    with pytest.raises(CandidateFault, match="does not answer"):
        screen.rest()


@pytest.fixture
def site(page):
    """A screen that shows a server's pages.

    Those in `late` come when the server has been settled a few times, those in `held` at the end of the test.
    """

    def serve(pages, late=(), held=()):
        ready, over = threading.Event(), threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path in late:
                    ready.wait()
                if self.path in held:
                    over.wait()
                text = pages[self.path].encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        class Server(StillServer):
            settled = 0

            def settle(self):
                # As the real one: it knows what goes on in the server, not what is on its way to it or from it.
                self.settled += 1
                if self.settled >= 5:
                    ready.set()

            def open_requests(self, _tag):
                return len(held)

        http = servers.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=http.serve_forever, daemon=True).start()
        servers.callback(http.shutdown)
        servers.callback(over.set)
        server = Server()
        server.url = f"http://127.0.0.1:{http.server_port}"
        screen = Screen(page, server, "t1")
        screen.open("/")
        screen.rest()
        server.settled = 0
        return screen

    with ExitStack() as servers:
        yield serve


def test_a_loop_without_end_after_the_click_is_the_candidates(run, page, monkeypatch):
    monkeypatch.setattr("pytest_lendbench.bench.rest.BOUND_S", 0.5)
    loop = "const port = new MessageChannel(); port.port1.onmessage = () => { for (;;); }; port.port2.postMessage(1);"
    # Noticed by the click or by the look after it. Whose fault it is, only a machine with time to spare can tell.
    with pytest.raises((CandidateFault, InstrumentError)):
        run(loop).expect(page.locator("p")).to_have_text("here")


def test_a_page_that_is_left_by_a_timer_is_looked_at_where_it_leads(site):
    screen = site(
        {"/": "<script>setTimeout(() => { location.href = '/there'; }, 2000)</script>", "/there": "<h1>There"}
    )
    screen.expect(screen.page.get_by_role("heading", name="There")).to_be_visible()


def test_no_timer_fires_while_the_store_holds_an_answer_back(site):
    ask = """<p></p><button onclick="
      setTimeout(() => { document.querySelector('p').textContent = 'given up'; }, 3000);
      fetch('/data')">Go</button>"""
    screen = site({"/": ask, "/data": "here"}, held={"/data"})
    screen.page.get_by_role("button").click()
    assert said(screen) == ""
    screen.pass_time(5)
    assert screen.page.locator("p").text_content() == "given up", "the page's clock was put forward"


def test_no_timer_fires_while_an_answer_is_on_its_way(site):
    """Or a request that is given up after two seconds would be given up at once."""
    ask = """<p></p><button onclick="
      const give = new AbortController();
      setTimeout(() => give.abort(), 2000);
      fetch('/data', { signal: give.signal }).then((it) => it.text()).catch(() => 'given up').then((text) => {
        document.querySelector('p').textContent = text;
      })">Go</button>"""
    screen = site({"/": ask, "/data": "here"}, late={"/data"})
    screen.page.get_by_role("button").click()
    assert said(screen) == "here"
