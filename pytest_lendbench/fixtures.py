"""What a check asks for by name: the server, its store, the ways to talk to it, and the bridge to single functions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from pytest_lendbench.bench.bridge import Bridge
from pytest_lendbench.bench.browser import find_browser
from pytest_lendbench.bench.desk import Desk
from pytest_lendbench.bench.host import Host
from pytest_lendbench.bench.pages import Pages
from pytest_lendbench.bench.server import DESK_NOW
from pytest_lendbench.markers import SPEC
from pytest_lendbench.rules.evidence import Event, Log, Piece, Recording, Trace
from pytest_lendbench.worker import EVIDENCE, PREPARED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from playwright.sync_api import Browser

    from pytest_lendbench.bench.grading import Prepared
    from pytest_lendbench.bench.screen import Screen
    from pytest_lendbench.bench.server import AppServer
    from pytest_lendbench.bench.store import Store
    from pytest_lendbench.bench.store.epoch import Course

STAFF = "st-imke"
"""Who is signed in where a check doesn't say who."""

_LOG_SHOWN = 4_000
_TRACE_SHOWN = 60


@pytest.fixture(scope="session")
def prepared(pytestconfig: pytest.Config) -> Prepared:
    """The built tree that is graded."""
    return pytestconfig.stash[PREPARED]


@pytest.fixture(scope="session")
def host(prepared: Prepared) -> Iterator[Host]:
    """This worker's own copy of the tree, and the server that runs it."""
    with Host(prepared.run_copy(f"worker-{os.getpid()}"), Path(prepared.node)) as host:
        yield host


@pytest.fixture
def on_failure(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Iterator[list[Callable[[], Piece]]]:
    """What is to be told as evidence if the check fails: functions, asked at its end."""
    tell: list[Callable[[], Piece]] = []
    failed_before = request.session.testsfailed
    yield tell
    if request.session.testsfailed > failed_before:
        for told in tell:
            record_property("evidence", told())


@pytest.fixture
def server(host: Host, on_failure: list[Callable[[], Piece]]) -> AppServer:
    """The running server. One that an earlier check has brought down is started again."""
    server = host.server()
    before = server.logged

    def since() -> Log:
        fresh = min(server.logged - before, _LOG_SHOWN)
        return Log(server.log_tail(fresh) if fresh else "")

    on_failure.append(since)
    return server


@pytest.fixture
def store(host: Host, server: AppServer, on_failure: list[Callable[[], Piece]]) -> Store:  # noqa: ARG001 (a server that is started anew has a new store)
    """The store behind the server, empty at the start of each check."""
    store = host.store
    store.begin()
    on_failure.append(lambda: _trace(store))
    return store


def _trace(store: Store) -> Trace:
    requests = {seen.number: f"{seen.method} {seen.url}" for seen in store.requests}
    return Trace(tuple(_event(course, requests) for course in store.courses[-_TRACE_SHOWN:]))


def _event(course: Course, requests: Mapping[int, str]) -> Event:
    asked = course.operation
    return Event(
        seq=asked.seq,
        tag=asked.tag or "",
        request=requests.get(asked.request or 0, ""),
        name=asked.name,
        args=str(asked.args),
        asked_ms=course.asked_s * 1000,
        asked_step=course.asked_step,
        answered_ms=None if course.answered_s is None else course.answered_s * 1000,
        answered_step=course.answered_step,
        held=course.held,
        failed=course.failed,
    )


@pytest.fixture
def desk(server: AppServer, store: Store) -> Desk:
    """The HTTP client."""
    return Desk(server, store)


@pytest.fixture
def clock(server: AppServer) -> Iterator[Callable[[str], None]]:
    """Sets the desk's clock while the server runs, to an instant in UTC: `clock("2031-11-05T12:00:00.000Z")`."""
    yield server.set_clock
    if server.is_alive:  # A server that is started anew has the clock of its start.
        server.set_clock(DESK_NOW)


@pytest.fixture(scope="session")
def unit(prepared: Prepared) -> Iterator[Bridge]:
    """Calls the candidate's functions and renders its components, without a server."""
    with Bridge(Path(prepared.tree), Path(prepared.node), Path(prepared.tools), Path(prepared.run_dir)) as bridge:
        yield bridge


class Screens(Protocol):
    def __call__(self, *, staff: str | None = None, **context: Any) -> Screen: ...


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any], prepared: Prepared) -> dict[str, Any]:
    """The browser that the grading has found, or with `--headed` one that has windows.

    Without Chromium's own sandbox, which root can't have.
    """
    headed = browser_type_launch_args.get("headless") is False
    program = find_browser(headed=True).executable if headed else prepared.browser
    executable = {"executable_path": program} if program else {}
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    # Without a process for graphics a page costs a third less.
    quiet.append("--in-process-gpu")
    return {**browser_type_launch_args, **executable, "args": quiet}


@pytest.fixture(scope="session")
def pages(browser: Browser, pytestconfig: pytest.Config) -> Pages:
    """The pages of this worker's browser."""
    return Pages(browser, recorded=pytestconfig.getoption("--tracing") != "off")


@pytest.fixture
def screens(
    pages: Pages,
    server: AppServer,
    store: Store,
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> Iterator[Screens]:
    """Opens browsers of people, each with cookies of its own: `screens(staff="st-tomas", color_scheme="dark")`.

    `context` is what Playwright's `new_context` takes. If the check fails, its evidence shows their pages.
    """

    def screen(*, staff: str | None = None, **context: Any) -> Screen:
        return pages.screen(server, store, staff, context)

    failed_before = request.session.testsfailed
    yield screen
    failed = request.session.testsfailed > failed_before
    for photo in pages.photos() if failed else ():
        record_property("evidence", photo)
    name = request.node.stash[SPEC].id
    for file in pages.end_recordings(request.config.stash[EVIDENCE] / name if failed else None):
        record_property("evidence", Recording(file.name))
    pages.give_back(server.url, clean=not failed)


@pytest.fixture
def visitor(screens: Screens) -> Screen:
    """The browser of somebody who isn't signed in."""
    return screens()


@pytest.fixture
def staff(screens: Screens) -> Screen:
    """The browser of a signed-in staff member, Imke."""
    return screens(staff=STAFF)


@pytest.fixture(scope="session")
def axe_source(prepared: Prepared) -> str:
    """The pinned axe-core, to be run in a page."""
    return (Path(prepared.tools) / "axe-core" / "axe.min.js").read_text("utf-8")


@pytest.fixture
def source(prepared: Prepared) -> Mapping[str, str]:
    """The text of each writable file as graded, for advisories only."""
    texts = {name: Path(prepared.tree, name).read_text("utf-8", "replace") for name in prepared.provenance["candidate"]}
    return {name: text for name, text in texts.items() if name.endswith((".ts", ".tsx"))}
