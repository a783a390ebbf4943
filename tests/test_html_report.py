"""The page that a person reads of a grading: what it says, that nothing in it can act, how it looks in a browser."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import sync_playwright
from test_faces import LOST, prepared, result

from pytest_lendbench.bench import layout, toolchain
from pytest_lendbench.bench.browser import find_browser
from pytest_lendbench.bench.gate import GateResult
from pytest_lendbench.faces.html_report import HtmlFace, page
from pytest_lendbench.result import GradingResult, Invalid, ReportSection
from pytest_lendbench.rules.checks import DOMAINS
from pytest_lendbench.rules.closeout import Closeout, Rule
from pytest_lendbench.rules.contract import ContractFindings
from pytest_lendbench.rules.evidence import Event, Log, Note, Recording, Screenshot, Trace
from pytest_lendbench.rules.quality import Diagnostic, Quality
from pytest_lendbench.rules.scoring import Measures, score

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
HERE = Path("/trees")


def told(name: str) -> tuple[Any, ...]:
    """Evidence of every kind, with `name` wherever text of a candidate can stand."""
    events = (
        Event(1, "t1", name, name, name, 1.0, 0, 4.0, 2, held=True),
        Event(2, "t2", name, name, name, 2.0, 1, 5.0, 3, held=True, failed=True),
        Event(3, "", "", name, name, 6.0, 4),
    )
    return Note(name), Log(name), Trace(events), Screenshot(PIXEL, name), Recording("P.race-1.zip")


def whole(name: str = "plain words", **changes: Any) -> GradingResult:
    """A scored grading in which something of everything was found."""
    closeout = Closeout((Rule("tasks", "Every task stands there once."), Rule("status", "status is set.", name)), 3)
    quality = Quality((Diagnostic(name, "Bugs", "error", name, 41, name, name),))
    findings = ContractFindings(
        added=((name, name),), protected=((name, name),), exports=((name, name),), left_out_imports=((name, name),)
    )
    found = prepared(closeout=closeout, contract=findings, provenance={"candidate": {name: name}, "list": [name]})
    said = {check: (verdict, name if verdict == "failed" else "") for check, (verdict, _) in LOST.items()}
    graded = result(said, found=found)
    entries = tuple(
        replace(entry, evidence=told(name), details=name) if entry.verdict == "failed" else entry
        for entry in graded.entries
    )
    measures = Measures(gate_passed=True, violated_classes=3, closeout=closeout.share, penalty=quality.penalty)
    return replace(
        graded,
        entries=entries,
        score=score(entries, measures),
        quality=quality,
        provenance=dict(found.provenance),
        sections=(ReportSection("a plugin's", (name,), {}),),
        **changes,
    )


def invalid(name: str = "plain words") -> GradingResult:
    graded = result({"C.heading": ("errored", name)}, "invalid", invalid=Invalid(name, name, name))
    entries = tuple(replace(entry, details=name, evidence=told(name)) for entry in graded.entries)
    return replace(graded, entries=entries)


def stopped(name: str = "plain words") -> GradingResult:
    return result({}, found=prepared(gate=GateResult(passed=False, step="typecheck", output=name, duration=1.0)))


def partial(name: str = "plain words") -> GradingResult:
    return result({"C.heading": ("passed", ""), "P.race": ("failed", name)}, "partial")


ENDINGS = {"scored": whole, "invalid": invalid, "stopped": stopped, "partial": partial}


def soup_of(graded: GradingResult) -> BeautifulSoup:
    return BeautifulSoup(page(graded, HERE, {}), "html.parser")


def words_of(graded: GradingResult) -> str:
    soup = soup_of(graded)
    soup.style.decompose()
    return " ".join(soup.get_text(" ").split())


# What it says.


def test_a_person_reads_the_score_why_and_what_each_thing_cost() -> None:
    words = words_of(whole())
    for phrase in (
        "16.6 of 100 points",
        "11.0 of 55",
        "2 of 3 checks and probes failed",
        "points by itself",
        "None of the catalogue's reads waits for another",
        "Bugs error · weighs 4.5",
        "Every task stands there once. held",
        "status is set. broken",
        "C Catalogue 1 of 2",
        "Advice, not scored",
        "read 0.1 s gate 3.2 s",
    ):
        assert phrase in words


def test_failures_with_one_reason_are_summed_up() -> None:
    lost = LOST | {"C.heading": ("failed", "no page at all"), "P.race": ("failed", "no page at all")}
    rows = soup_of(result(lost)).find_all("td", class_="reason")
    assert [row.get_text() for row in rows] == ["no page at all", LOST["C.parallel-reads"][1].splitlines()[0]]
    links = rows[0].find_next_sibling("td").find_all("a")
    assert [link["href"] for link in links] == ["#C-heading", "#P-race"]


def test_nothing_is_said_of_costs_where_somebody_else_has_scored() -> None:
    graded = whole()
    assert graded.score is not None
    other = replace(graded.score, axes=graded.score.axes[:1])
    assert "by itself" not in words_of(replace(graded, score=other))


def test_each_failed_check_shows_its_evidence() -> None:
    shown = soup_of(whole()).find(id="P-race")
    assert shown.img["src"] == f"data:image/png;base64,{PIXEL}"
    assert shown.find("a", string=re.compile("Playwright"))["href"] == "./lendbench-evidence/P.race-1.zip"
    assert [text.get_text() for text in shown.find("svg", class_="timeline").find_all(class_="tag")] == [
        "t1 plain words",
        "t2 plain words",
        "no request",
    ]
    assert "s log" in shown.get_text()
    assert "held back" in shown.find("pre", string=re.compile("asked 1 ms")).get_text()


def test_an_invalid_grading_says_what_to_do_and_no_number() -> None:
    words = words_of(result(LOST, "invalid", invalid=Invalid("The disk is full.", "Free some space.", "Traceback …")))
    assert "This grading says nothing about the candidate." in words
    assert "The disk is full. What to do: Free some space." in words
    assert "of 100" not in words
    assert "checks failed" not in words


def test_a_tree_that_the_gate_stopped_shows_the_compilers_words() -> None:
    words = words_of(stopped("src/a.ts(3,1): error TS2322"))
    assert "0.0 of 100 points" in words
    assert "The typecheck failed, so no check was run" in words
    assert "src/a.ts(3,1): error TS2322" in words
    assert "Where the points went" not in words


def test_a_partial_grading_says_that_there_is_no_total() -> None:
    words = words_of(partial())
    assert "1 of the 2 checks that were asked for passed." in words
    assert "for a total, grade again without choosing checks" in words


def test_a_perfect_grading_says_so() -> None:
    words = words_of(result(dict.fromkeys(LOST, ("passed", ""))))
    assert "Every scored check passed." in words
    assert "nothing lost" in words


def test_the_domains_are_called_as_in_the_spec() -> None:
    spec = (layout.fixture() / "app" / "SPEC.md").read_text("utf-8")
    headings = dict(re.findall(r"^## ([A-Z])\. ([^(\n]*?)(?: \(.*\))?$", spec, re.MULTILINE))
    assert {letter: DOMAINS[letter] for letter in headings} == headings


def test_screenshots_beyond_all_measure_are_named_and_not_shown() -> None:
    large = base64.b64encode(b"\0" * 9_000_000).decode()
    graded = whole()
    entries = tuple(replace(one, evidence=(Screenshot(large, "/items"),) * 2) for one in graded.entries)
    soup = soup_of(replace(graded, entries=entries))
    assert len(soup.find_all("img")) == 1
    assert "see P.race-2.png in the evidence" in " ".join(soup.get_text().split())


def test_the_file_is_whole_or_absent(tmp_path: Path) -> None:
    HtmlFace(None, []).pytest_lendbench_publish(whole())
    HtmlFace(tmp_path / "report.html", []).pytest_lendbench_publish(replace(whole(), candidate=Path("/trees/\udcff")))
    assert (tmp_path / "report.html").read_text("utf-8").startswith("<!doctype html>")
    with pytest.raises(AttributeError):
        HtmlFace(tmp_path / "other.html", []).pytest_lendbench_publish(replace(whole(), entries=(object(),)))  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


# That nothing in it can act.

HOSTILE = [
    "<script>document.title = 'taken'</script>",
    "</style></pre></textarea><img src=x onerror=\"document.title = 'taken'\">",
    "\" onmouseover=\"x\" ' onfocus='x' `",
    "]]> --> <!-- <svg onload=x>",
    "{{ 7 * 7 }} {% raw %}",
    "\ud800 \udfff \x00 \x1b[31m \x85 \u202e \u2028",
    "javascript:alert(1)",
    "x" * 10_000,
    "&lt;b&gt; &#60;b&#62;",
    "assert '<b>' == '</dd><script>'",
]


def shape(soup: BeautifulSoup) -> list[tuple[str, tuple[str, ...]]]:
    """All elements with the names of their attributes, in order."""
    return [(tag.name, tuple(sorted(tag.attrs))) for tag in soup.find_all(True)]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_text_of_a_candidate_stays_text(ending: str, text: str) -> None:
    written = page(ENDINGS[ending](text), HERE, {})
    written.encode()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\ud800-\udfff]", written)
    soup = BeautifulSoup(written, "html.parser")
    assert not soup.find_all(["script", "iframe", "object", "embed", "link", "base", "form", "textarea"])
    assert not [name for tag in soup.find_all(True) for name in tag.attrs if name.startswith("on")]
    assert {tag["src"][:22] for tag in soup.find_all(src=True)} <= {"data:image/png;base64,"}
    assert all(tag["href"].startswith(("#", "./")) for tag in soup.find_all(href=True))
    assert len(soup.find_all("style")) == 1


@given(st.text(st.characters(codec=None, exclude_categories=()), min_size=1, max_size=40))
def test_whatever_a_candidate_says_the_page_has_the_same_elements(text: str) -> None:
    # What has several lines, or compares two values, is shown with other elements than a sentence.
    sentence = "a" + " ".join(text.replace("==", "").split())
    assert shape(soup_of(whole(sentence))) == shape(soup_of(whole("a")))


def test_an_evidence_directory_of_any_name_is_linked_as_a_path() -> None:
    odd = replace(whole(), evidence=Path('/trees/java"script: <b>\udcff'))
    (link,) = {tag["href"] for tag in soup_of(odd).find_all("a", string=re.compile("Playwright"), href=True)[:1]}
    assert link.startswith("./java%22script%3A%20%3Cb%3E%FF/")


# How it looks.


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser().executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def axe() -> str:
    tools = toolchain.provide(print).tools
    return (tools / "axe-core" / "axe.min.js").read_text("utf-8")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 320), ("dark", 320)])
def test_everyone_can_read_it_without_a_network(  # noqa: PLR0917
    browser: Browser, axe: str, tmp_path: Path, ending: str, scheme: Any, width: int
) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(ENDINGS[ending](HOSTILE[1] + " word" * 30 + "x" * 300), tmp_path, {}), "utf-8")
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
    shown = context.new_page()
    asked: list[str] = []
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(file.as_uri())
    shown.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
    assert "taken" not in shown.title()
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    shown.evaluate(axe)
    found = shown.evaluate("axe.run().then(found => found.violations)")
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
    context.close()


def test_on_paper_nothing_is_folded_away(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(whole(), tmp_path, {}), "utf-8")
    context = browser.new_context(color_scheme="dark")
    shown = context.new_page()
    shown.goto(file.as_uri())
    log = shown.locator("#P-race details pre").last
    assert not log.is_visible()
    shown.emulate_media(media="print")
    assert log.is_visible()
    background = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    assert shown.pdf().startswith(b"%PDF")
    context.close()
