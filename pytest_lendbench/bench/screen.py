"""One person in front of one browser page, with waits that end in a proof instead of a timeout.

A wait ends in one of three ways. What is asked for is there: go on. It isn't, and page and server are *at rest*
(nothing in either can run any more): the candidate doesn't show it, and the check fails. Or neither can be told within
a generous bound: `blame` decides whether the machine was starved.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from playwright.sync_api import ConsoleMessage, Locator, Page, Request, Route, expect
from playwright.sync_api import Error as PlaywrightError

from pytest_lendbench.bench.patience import blame
from pytest_lendbench.bench.renderers import bounded, busiest_renderer
from pytest_lendbench.bench.rest import BOUND_S, Rest, Server
from pytest_lendbench.bench.wire import TAG_HEADER
from pytest_lendbench.rules.errors import CandidateFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api._generated import LocatorAssertions, PageAssertions

#: Every page runs this before its own scripts.
PAGE_SCRIPT = (files("pytest_lendbench.bench") / "node" / "page.js").read_text("utf-8")

_LOOK_MS = 1
"""Playwright looks once, whatever the time it is given."""

_TRY_MS = 400
"""How long Playwright itself tries to do something before rest is asked for. No verdict depends on it."""

_FENCE = "/lendbench-fence"
"""What `page.js` asks for to see that nothing is on its way any more. It never gets to the server."""

_ACT_S = 30.0
"""How long what is done once may take. What it is done to is there: only what lies above it or moves costs the time."""

_ABOUT = re.compile(r'Expect "\w+" (.+) with timeout')
"""Where Playwright's log of an assertion names the locator."""

_MOST_TABS = 60
"""More stops than any page of the app has; a date control alone has up to four."""

_SECOND_LOOK = 5.0
"""How many times as long as coming to rest took the look after it may take: it is less work."""


@dataclass(frozen=True, slots=True)
class Captured:
    """A request as the browser would have sent it. `headers` holds no cookie."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes


class Screen:
    """A page of the graded app, and what a person does and sees there. Made by the fixture `screens`."""

    def __init__(self, page: Page, server: Server, tag: str) -> None:
        self.page = page
        self._server = server
        self._rest = Rest(page, server, tag)
        self._rested = True
        self.sent: list[Request] = []
        self.complaints: list[str] = []
        self._listeners: dict[Any, Callable[..., None]] = {
            "request": self._on_request,
            "requestfinished": self._rest.end,
            "requestfailed": self._rest.end,
            "console": self._on_console,
            "pageerror": self._on_error,
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def detach(self) -> None:
        """Stops listening to the page, which then may be given to somebody else."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def _on_request(self, request: Request) -> None:
        self._rest.begin(request)
        if request.method not in {"GET", "HEAD"}:
            self.sent.append(request)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _on_error(self, error: PlaywrightError) -> None:
        self.complaints.append(str(error))

    # What a person does.

    def open(self, path: str) -> None:
        """Goes to a path of the app and waits until the page has loaded."""
        self._patiently(lambda _: self.page.goto(self._server.url + path, wait_until="load", timeout=BOUND_S * 1000))
        self._rested = False

    def back(self) -> None:
        """Presses the browser's Back."""
        self._ready()
        self._once(self.page.go_back)

    def click(self, target: Locator, *, even_if_disabled: bool = False) -> None:
        """Clicks once, when the control can be hit; with `even_if_disabled` also one that is disabled or covered.

        Raises:
            CandidateFault: It can't be hit, or the page hangs.
            InstrumentError: The machine was too slow.
        """
        self._ready()
        self.expect(target).to_be_visible()
        if not even_if_disabled:
            self.expect(target).to_be_enabled()
        self._once(lambda timeout: target.click(timeout=timeout, force=even_if_disabled))

    def double_click(self, target: Locator) -> None:
        """Clicks twice, as quickly as a double click is. Errors as for `click`."""
        self._ready()
        self.expect(target).to_be_visible()
        self.expect(target).to_be_enabled()
        self._once(lambda timeout: target.dblclick(timeout=timeout))

    def press(self, target: Locator, key: str) -> None:
        """Goes into a control and presses a key there."""
        self._ready()
        self.expect(target).to_be_visible()
        self._once(lambda timeout: target.press(key, timeout=timeout))

    def hover(self, target: Locator) -> None:
        """Puts the mouse over something."""
        self._ready()
        self._patiently(lambda patience: target.hover(timeout=patience))

    def fill(self, target: Locator, text: str) -> None:
        """Puts `text` into a control in place of what is in it. Unlike `enter`, past the control's own limits."""
        self._ready()
        self._patiently(lambda patience: target.fill(text, timeout=patience))

    def enter(self, target: Locator, text: str) -> None:
        """Goes into a text control, selects what is in it and puts `text` there as by a paste: its limits hold."""
        self._ready()
        self._patiently(lambda patience: target.focus(timeout=patience))
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def choose(self, label: str, option: str) -> None:
        """Chooses an option of a choice that may be a select or a group of radio buttons."""
        self._ready()
        select = self.page.get_by_role("combobox", name=label)
        group = self.page.get_by_role("group", name=label).or_(self.page.get_by_role("radiogroup", name=label))
        self.expect(select.or_(group).first).to_be_visible()
        if select.count():
            self._patiently(lambda patience: select.select_option(label=option, timeout=patience))
        else:
            self._patiently(lambda patience: group.get_by_label(option, exact=True).check(timeout=patience))

    def tab_to(self, target: Locator) -> None:
        """Presses Tab until the focus is on the control.

        Raises:
            CandidateFault: the focus doesn't reach it.
        """
        self.rest()
        self.expect(target).to_be_visible()
        for _ in range(_MOST_TABS):
            self.page.keyboard.press("Tab")
            if target.evaluate("control => control === document.activeElement"):
                return
        raise CandidateFault(f"{_MOST_TABS} presses of Tab did not lead to {target}; the focus is on {self.focused()}.")

    def _ready(self) -> None:
        """A person looks before acting: by then the page's scripts have come and taken hold of it."""
        if not self._rested:
            self.rest()

    @contextmanager
    def elsewhere(self, zone: str, locale: str) -> Iterator[None]:
        """While inside, pages that are opened find themselves in another time zone and language."""
        session = self.page.context.new_cdp_session(self.page)
        session.send("Emulation.setTimezoneOverride", {"timezoneId": zone})
        session.send("Emulation.setLocaleOverride", {"locale": locale})
        yield
        # With it the overrides end. After an error the page isn't used again; one that has crashed would not answer.
        session.detach()

    # What a person sees.

    def expect(self, target: Locator) -> LocatorAssertions:
        """Playwright's `expect`, without its timeouts: see the module's docstring."""
        return cast("LocatorAssertions", _Patient(self, expect(target)))

    def expect_page(self) -> PageAssertions:
        """The same for title and address of the page."""
        return cast("PageAssertions", _Patient(self, expect(self.page)))

    def described(self, control: Locator) -> str:
        """The texts that a control refers to as its description or error message."""
        self.expect(control).to_be_visible()
        return str(control.evaluate("control => window.lendbench.described(control)"))

    @contextmanager
    def hears(self, text: str) -> Iterator[None]:
        """What is done inside makes the page say `text`, seen by the eye and announced to assistive technology.

        Either a live region that was there before takes it in (also once more), or the focus goes to it or to a control
        that it describes.

        Raises:
            CandidateFault: it is shown and not announced.
        """
        self._ready()
        self.page.evaluate("() => window.lendbench.watch()")
        yield
        self.expect(self.page.get_by_text(text).first).to_be_visible()
        self.rest()
        how = self.page.evaluate("text => window.lendbench.announced(text)", text)
        if how is None:
            raise CandidateFault(
                f"{text!r} is on the page but not announced: no live region that was there before holds it, and the "
                f"focus is on {self.focused()}"
            )

    def keeps_focus(self) -> bool:
        """Whether the focus is on something of the page, not lost to its body."""
        self.rest()
        return bool(self.page.evaluate("() => document.activeElement?.matches('body *') ?? false"))

    def focused(self) -> str:
        """Where the focus is, in a few words."""
        return str(self.page.evaluate("() => document.activeElement?.outerHTML.slice(0, 120) ?? 'nothing'"))

    # What the grader knows.

    def rest(self) -> None:
        """Returns when nothing can happen any more in server and page, other than what the store holds.

        Raises:
            CandidateFault: the server or the page is proven hung or gone.
            InstrumentError: it can't be told on this machine.
        """
        self._rest.come()
        self._rested = True

    def pass_time(self, seconds: float) -> None:
        """Puts the page's timers and intervals forward: those that are due by then fire. Errors as for `rest`.

        `Date` has no part in it, nor has the store: what is held is still under way.
        """
        for _ in self._rest.moments(seconds * 1000, held=True):
            pass

    def catch(self, act: Callable[[], None]) -> Captured:
        """Does something that sends a request, keeps that request from the server, and returns it.

        Raises:
            CandidateFault: nothing was sent that could change anything.
        """
        caught: list[Request] = []

        def keep(route: Route, request: Request) -> None:
            if request.url.endswith(_FENCE):
                route.abort()
            elif request.method in {"GET", "HEAD"}:
                route.fallback()
            else:
                caught.append(request)
                route.abort()

        self.page.route("**/*", keep)
        try:
            act()
            self.rest()
            if not caught:
                # Requests that are kept are told of by another process than the page, and so maybe after its rest.
                self.page.evaluate("() => window.lendbench.fence()")
        finally:
            self.page.unroute("**/*", keep)
        if not caught:
            raise CandidateFault("The form was submitted, but the browser sent no request that could change anything.")
        request = caught[0]
        unwanted = {"cookie", "content-length", "host", "connection", TAG_HEADER}
        headers = {name: value for name, value in request.all_headers().items() if name not in unwanted}
        headers = {name: value for name, value in headers.items() if not name.startswith(":")}
        return Captured(request.method, request.url, headers, request.post_data_buffer or b"")

    def _once(self, act: Callable[..., object]) -> None:
        """Does something that changes what is there, and so can't be tried again: it may have been done already.

        Raises:
            CandidateFault: Something is in the way: it can't be hit, it moves all the time, or the page hangs.
            InstrumentError: The machine was too slow.
        """
        try:
            act(timeout=_ACT_S * 1000)
        except PlaywrightError as error:
            raise blame(_plain(error), busiest_renderer()) from error

    def _patiently(self, act: Callable[[float], object], try_ms: float = _TRY_MS) -> None:
        """Does something that Playwright gives up after some milliseconds, until it is done or proven impossible.

        It may be done several times: it must change nothing, or nothing the second time.

        It is impossible when page and server are at rest, a last try has had several times as long as finding that
        out took, and as long as the page's clock was put forward (what doesn't follow that clock may still come), and
        the machine had time to spare. A slow machine only makes it take longer.
        """
        until = time.monotonic() + BOUND_S
        while not self._done(act, try_ms):
            looked = time.monotonic()
            for _ in self._rest.moments():
                if self._done(act, try_ms):
                    return
                took, looked = time.monotonic() - looked, time.monotonic()
            patience_ms = max(_TRY_MS, _SECOND_LOOK * took * 1000, self._rest.skipped_ms)
            try:
                with bounded(2 * BOUND_S + patience_ms / 1000):
                    act(patience_ms)
            except (AssertionError, PlaywrightError) as error:
                blamed = blame(_plain(error), None)
                if isinstance(blamed, CandidateFault):
                    raise error if isinstance(error, AssertionError) else CandidateFault(_plain(error)) from error
                if time.monotonic() > until:
                    raise blamed from error
            else:
                return

    @staticmethod
    def _done(act: Callable[[float], object], timeout_ms: float) -> bool:
        try:
            with bounded(2 * BOUND_S + timeout_ms / 1000):
                act(timeout_ms)
        except (AssertionError, PlaywrightError):
            return False
        return True


def _plain(error: AssertionError | PlaywrightError) -> str:
    """Playwright's words without its log of retries, which repeats itself for pages."""
    lines = dict.fromkeys(line.strip() for line in str(error).splitlines() if line.strip())
    return "; ".join(list(lines)[:12])


def _named(words: str) -> str:
    """Playwright's words on a failed assertion, with what they are about in the first line."""
    about = _ABOUT.search(words)
    return words.replace("Locator expected", f"{about[1]} is expected", 1) if about else words


class _Patient:
    """Assertions of Playwright, each made with `Screen`'s patience."""

    def __init__(self, screen: Screen, assertions: LocatorAssertions | PageAssertions) -> None:
        self._screen = screen
        self._assertions = assertions

    def __getattr__(self, name: str) -> Callable[..., None]:
        method = getattr(self._assertions, name)

        def look(*args: Any, **kwargs: Any) -> None:
            try:
                self._screen._patiently(lambda patience: method(*args, timeout=patience, **kwargs), _LOOK_MS)  # noqa: SLF001 (one module)
            except AssertionError as error:
                words = _named(str(error))
                if name.endswith("to_have_attribute"):
                    # Playwright says the value only.
                    words = words.replace("to have attribute ", f"to have attribute {args[0]}=", 1)
                raise AssertionError(words) from None

        return look
