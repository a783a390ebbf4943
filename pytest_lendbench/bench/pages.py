"""Browser pages for checks. Making one costs more than most checks do with it, so plain ones are used again."""

from __future__ import annotations

import base64
import contextlib
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import ViewportSize

from pytest_lendbench.bench.screen import PAGE_SCRIPT, Screen
from pytest_lendbench.bench.wire import TAG_HEADER
from pytest_lendbench.rules.evidence import Screenshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from pytest_lendbench.bench.server import AppServer
    from pytest_lendbench.bench.store import Store

_LEAVE_MS = 5_000
_VIEWPORT: ViewportSize = {"width": 1280, "height": 720}
"""Playwright's own default."""
_MOTION: Literal["reduce"] = "reduce"
"""Whoever looks has asked for less motion: each change of a colour would have to be drawn and waited for."""

_PHOTO_MS = 5_000
_PHOTO_HEIGHT = 1_600
"""Pixels from the top of a page that a photo shows: the candidate decides how long a page is."""
_PHOTO_BYTES = 1_500_000
_MOST_PHOTOS = 4


class Pages:
    """The pages of one browser. Each has a context, and so cookies and storage, of its own.

    Args:
        browser: Which.
        recorded: Whether Playwright's traces are made of what is done in them. It costs time.
    """

    def __init__(self, browser: Browser, *, recorded: bool = False) -> None:
        self._browser = browser
        self._recorded = recorded
        self._idle: list[Page] = []
        self._lent: list[tuple[Screen, bool]] = []

    def screen(self, server: AppServer, store: Store, staff: str | None, options: Mapping[str, Any]) -> Screen:
        """A page with nothing in it, of a signed-in staff member or of a visitor.

        Args:
            server: Whose pages it will show.
            store: Counts its requests.
            staff: A staff member's id; `None`: a visitor.
            options: What Playwright's `new_context` takes. A page with options of its own is not used again.
        """
        page = self._idle.pop() if self._idle and not options else self._new(options)
        tag = store.new_tag()
        page.context.set_extra_http_headers({TAG_HEADER: tag})
        if staff is not None:
            name, _, value = server.staff_cookie(staff).partition("=")
            page.context.add_cookies([{"name": name, "value": value, "url": server.url}])
        if self._recorded:
            page.context.tracing.start_chunk()
        screen = Screen(page, server, tag)
        self._lent.append((screen, not options))
        return screen

    def photos(self) -> Iterator[Screenshot]:
        """What the open pages look like now. One that can't be photographed, or is too large, is left out."""
        open_pages = [page for screen, _ in self._lent for page in screen.page.context.pages]
        for page in open_pages[:_MOST_PHOTOS]:
            width = (page.viewport_size or _VIEWPORT)["width"]
            with contextlib.suppress(PlaywrightError):
                png = page.screenshot(
                    full_page=True,
                    clip={"x": 0, "y": 0, "width": width, "height": _PHOTO_HEIGHT},
                    timeout=_PHOTO_MS,
                )
                if len(png) <= _PHOTO_BYTES:
                    address = urlsplit(page.url)._replace(scheme="", netloc="").geturl()
                    yield Screenshot(base64.b64encode(png).decode(), address)

    def end_recordings(self, keep: Path | None) -> list[Path]:
        """Ends the traces of the lent pages.

        Args:
            keep: The start of their files' names: `DIR/C.order` makes `DIR/C.order-1.zip`. `None` drops them.

        Returns:
            The files that were written.

        Raises:
            playwright.sync_api.Error: Playwright cannot write them.
        """
        written = []
        for number, (screen, _) in enumerate(self._lent if self._recorded else [], 1):
            file = keep.with_name(f"{keep.name}-{number}.zip") if keep else None
            screen.page.context.tracing.stop_chunk(path=file)
            written += [file] if file else []
        return written

    def give_back(self, url: str, *, clean: bool) -> None:
        """Takes all lent pages back.

        Args:
            url: Of the server whose cookies and storage are to be forgotten.
            clean: Whether they may be used again: nothing went wrong in them.
        """
        lent, self._lent = self._lent, []
        for screen, plain in lent:
            screen.detach()
            if not (clean and plain and _emptied(screen.page, url)):
                screen.page.context.close()
            else:
                self._idle.append(screen.page)
        # Pages share processes: what was wrong with one may have taken idle ones with it.
        while not clean and self._idle:
            self._idle.pop().context.close()

    def _new(self, options: Mapping[str, Any]) -> Page:
        context = self._browser.new_context(**{"reduced_motion": _MOTION, **options})
        context.add_init_script(PAGE_SCRIPT)
        if self._recorded:
            context.tracing.start(screenshots=True, snapshots=True, sources=True)
        return context.new_page()


def _emptied(page: Page, url: str) -> bool:
    """Makes a page forget all that a check has left in it, but for the files it may cache. `False`: it won't."""
    context = page.context
    try:
        # First: what it runs could keep all that follows waiting, which has no time-out.
        page.goto("about:blank", timeout=_LEAVE_MS)
        page.unroute_all()
        page.evaluate("() => { window.name = ''; }")
        page.set_viewport_size(_VIEWPORT)
        page.emulate_media(color_scheme="light", reduced_motion=_MOTION)
        context.clear_cookies()
        session = context.new_cdp_session(page)
        session.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})
        session.detach()
    except PlaywrightError:
        return False
    return len(context.pages) == 1
