"""What a failed check has seen, from the worker to the files."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from gradings import CHECKS, Grader
from playwright.sync_api import sync_playwright
from test_faces import LOST, result
from test_html_report import PIXEL, told
from test_screen import StillServer

from pytest_lendbench import evidence
from pytest_lendbench.bench.browser import find_browser
from pytest_lendbench.bench.pages import Pages
from pytest_lendbench.rules.evidence import from_json, texts, to_json
from pytest_lendbench.verdicts import _limited

if TYPE_CHECKING:
    from pathlib import Path


class Server(StillServer):
    url = "about:blank"


class Store:
    def new_tag(self) -> str:
        return "t1"


def test_every_piece_travels_as_json() -> None:
    pieces = told("words \ud800")
    assert from_json(json.loads(json.dumps(to_json(pieces)))) == pieces


def test_as_text_files_are_named() -> None:
    assert texts("P.race", told("words")) == [
        "words",
        "The server's log:\nwords",
        "What the store was asked for:\n   1 t1     words words\n   2 t2     words words\n   3 -      words words",
        "P.race-1.png",
        "P.race-1.zip",
    ]


def test_screenshots_lie_beside_the_text_and_go_with_it(tmp_path: Path) -> None:
    entries = [replace(entry, evidence=told("words")) for entry in result(LOST).entries]
    old = ["P.race-2.png", "P.race-7.zip", "C.heading.txt", "C.heading-1.png"]
    others = ["P.race-1.zip", "P.race-condition.txt", "P.race-x.png", "notes.txt"]
    for name in (*old, *others):
        (tmp_path / name).write_text("")
    assert evidence.write(tmp_path, entries) == tmp_path
    made = {f"{name}{ending}" for name in ("P.race", "C.parallel-reads") for ending in (".txt", "-1.png")}
    assert {path.name for path in tmp_path.iterdir()} == {*made, *others}
    assert (tmp_path / "P.race-1.png").read_bytes() == base64.b64decode(PIXEL)


def test_pages_are_photographed_and_recorded(tmp_path: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser().executable, args=["--no-sandbox"])
        pages = Pages(browser, recorded=True)
        for kept in (None, tmp_path / "new" / "C.order"):
            screens = [pages.screen(Server(), Store(), None, {}) for _ in range(2)]  # type: ignore[arg-type]
            screens[0].page.set_content("<body style='height: 9000px'>")
            screens[1].page.close()
            (photo,) = pages.photos()
            assert base64.b64decode(photo.png).startswith(b"\x89PNG")
            written = pages.end_recordings(kept)
            pages.give_back("http://127.0.0.1:1", clean=False)
            assert [path.name for path in written] == (["C.order-1.zip", "C.order-2.zip"] if kept else [])
            assert all(path.read_bytes().startswith(b"PK") for path in written)
        browser.close()


def test_a_page_that_hangs_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_lendbench.bench.pages._PHOTO_MS", 300)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser().executable, args=["--no-sandbox"])
        pages = Pages(browser)
        page = pages.screen(Server(), Store(), None, {}).page  # type: ignore[arg-type]
        page.evaluate("() => { setTimeout(() => { for (;;) {} }, 0); }")
        assert list(pages.photos()) == []
        browser.close()


@pytest.mark.parametrize("way", [["-n0"], ["-n2"]], ids=" ".join)
def test_a_grading_writes_both_and_names_the_page(grader: Grader, way: list[str]) -> None:
    noting = "from pytest_lendbench.rules.evidence import Screenshot\n" + CHECKS.replace(
        'record_property("evidence", f"', f'record_property("evidence", Screenshot("{PIXEL}", "/items"))\n    x = (f"'
    )
    grader.suite(noting)
    page = grader.path / "out" / "report.html"
    page.write_text("of an earlier grading")
    graded = grader.grade(grader.candidate("one"), f"--score-html={page}", *way)
    assert f"--score-html={page}" in graded.json["provenance"]["command"]
    assert graded.check("A.two")["evidence"] == ["A.two-1.png"]
    assert (grader.path / "lendbench-evidence" / "A.two-1.png").read_bytes() == base64.b64decode(PIXEL)
    assert PIXEL in page.read_text("utf-8")
    assert f"report    {page}" in graded.output
    assert f"report    {grader.json}" in graded.output


def test_a_usage_problem_leaves_no_old_page(grader: Grader) -> None:
    grader.suite()
    page = grader.path / "out" / "report.html"
    page.write_text("of an earlier grading")
    assert grader.grade(grader.candidate("not-ours"), f"--score-html={page}").status == 4
    assert not page.exists()


def test_two_results_need_two_files(grader: Grader) -> None:
    grader.suite()
    graded = grader.grade(grader.candidate(), f"--score-html={grader.json}")
    assert graded.status == 4
    assert "Name two files." in graded.output


def test_what_a_candidate_says_is_limited_before_it_travels() -> None:
    for piece in told("\ud800" + "x" * 100_000):
        (sent,) = to_json([_limited(piece)])
        text = json.dumps(sent, ensure_ascii=False)
        text.encode()
        assert len(text) < 25_000
