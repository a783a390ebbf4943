"""No check waits for ever for its pages, whatever a candidate's page does."""

import pytest
from gradings import one_check
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright
from still import StillServer

from pytest_lendbench.bench import watch
from pytest_lendbench.bench.browser import find_browser
from pytest_lendbench.bench.renderers import busiest_renderer
from pytest_lendbench.bench.screen import Screen
from pytest_lendbench.bench.watch import watched
from pytest_lendbench.rules.errors import CandidateFault, InstrumentError

HANG = "() => { for (;;); }"


@pytest.fixture
def tab():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser().executable, args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(watch, "CHECK_S", 1.0)
    monkeypatch.setattr(watch, "_THEN_S", 1.0)
    monkeypatch.setattr(watch, "_HUNG_CPU_S", 0.1)


def test_a_page_that_never_answers_is_the_candidates(tab):
    with (
        pytest.raises(CandidateFault, match=r"did not come to an end within 1 s. A page computed for"),
        watched(),
    ):
        tab.evaluate(HANG)


def test_a_call_that_waits_for_a_page_that_has_crashed_comes_back(tab):
    session = tab.context.new_cdp_session(tab)
    busiest_renderer().kill()
    with pytest.raises(InstrumentError, match="not known what it waited for"), watched():
        session.detach()


def test_what_ends_in_time_has_its_own_verdict(tab):
    with pytest.raises(PlaywrightError, match="nothing of that kind"), watched():
        tab.evaluate("() => { throw new Error('nothing of that kind'); }")
    with watched():
        assert tab.evaluate("() => 1 + 1") == 2


def test_elsewhere_a_page_that_crashes_keeps_nobody(tab):
    def crash():
        with Screen(tab, StillServer(), "t1").elsewhere("Asia/Tokyo", "de-DE"):
            busiest_renderer().kill()
            tab.evaluate("() => 1")

    with pytest.raises(PlaywrightError), watched():
        crash()


def test_a_check_whose_page_hangs_has_failed(grader):
    program = find_browser().executable
    grader.suite(
        one_check(
            "from playwright.sync_api import sync_playwright\n"
            "with sync_playwright() as playwright:\n"
            f"    browser = playwright.chromium.launch(executable_path={str(program)!r}, args=['--no-sandbox'])\n"
            f"    browser.new_page().evaluate({HANG!r})"
        )
    )
    graded = grader.grade(grader.candidate("one"), "-n0")
    assert graded.verdicts == {"A.one": "failed"}
    assert "did not come to an end within 1 s" in graded.check("A.one")["message"]
    assert grader.left_behind() == []
