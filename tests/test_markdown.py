"""The summary in Markdown, and that a candidate can put nothing into it but text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from test_faces import CATALOG, LOST, prepared, result

from pytest_lendbench.bench.gate import GateResult
from pytest_lendbench.faces.markdown import LONGEST, code, render
from pytest_lendbench.result import Invalid, ReportSection
from pytest_lendbench.rules.catalog import Catalog
from pytest_lendbench.rules.checks import CheckSpec
from pytest_lendbench.rules.closeout import Closeout, Rule
from pytest_lendbench.rules.contract import ContractFindings
from pytest_lendbench.rules.ledger import Entry
from pytest_lendbench.rules.quality import Diagnostic, Quality

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradings import Grader
    from markdown_it.token import Token

    from pytest_lendbench.result import GradingResult

GITHUB = MarkdownIt("gfm-like")
OURS = {"<details>", "</details>", "<summary>", "</summary>", "<b>", "</b>", "<sub>", "</sub>"}
"""The HTML that the summary itself is made of."""

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</details></sub><script>alert(1)</script>",
    "![x](https://evil.example/x.png)",
    "[text](https://evil.example) <https://evil.example>",
    "https://evil.example www.evil.example a@evil.example",
    "@admin please look at #1 and owner/repo#2",
    "` @admin `` ![x](y) ```",
    "``` \n\n```\n<img src=x>\n```",
    "a | b\n---|---\n| 1 | 2 |",
    "\\` \\| \\",
    "~~~\n# heading\n\n[ref]: https://evil.example\n\n[ref]",
    "\r\n\u2028\x85\x0b<b>\x1b[31m\ud800\u202e",
    "$`x`$ &lt;img&gt; &#64;admin",
]
CANDIDATES = st.sampled_from(HOSTILE) | st.text() | st.text(alphabet="`<>|@[]()!\\\n -~#a&;:/.")


def tokens(text: str) -> Iterator[Token]:
    for token in GITHUB.parse(text):
        yield token
        yield from token.children or ()


def shape(text: str) -> list[str]:
    """The structure of a document, without what is said in it."""
    return [token.type for token in tokens(text) if token.type not in {"text", "softbreak"}]


def crowded(words: str, count: int = 3, **changes: object) -> GradingResult:
    """A grading in which everything that a candidate can write says `words`."""
    catalog = Catalog.of(
        [CheckSpec(f"C.n{number}", "check", "C", 0, 1, "C.1", "It is.", "it is") for number in range(count)]
    )
    found = prepared(
        contract=ContractFindings(added=((words, words),) * count, left_out_imports=((words, words),)),
        closeout=Closeout((Rule("tasks", "Every task stands.", words or "?"), Rule("count", "It counts.")), 1),
    )
    entries = tuple(Entry(spec, "failed", words) for spec in catalog)
    quality = Quality(tuple(Diagnostic(words, "Bugs", "error", words, 1, words) for _ in range(count)))
    tree = Path("/trees", words.replace("/", "_").replace("\0", "") or "x")
    sections = (ReportSection(words, (words,) * count, {}),) * 2
    return replace(
        result(LOST, found=found),
        entries=entries,
        quality=quality,
        sections=sections,
        candidate=tree,
        evidence=tree,
        **changes,
    )


def assert_harmless(text: str) -> None:
    for token in tokens(text):
        assert token.type not in {"link_open", "image"}, token
        if token.type.startswith("html"):
            assert set(re.findall("<[^>]*>?", token.content)) <= OURS, token
        if token.type == "text":
            assert not set(token.content) & set("@<>[]`\\|"), token


@pytest.mark.parametrize("words", HOSTILE)
@pytest.mark.parametrize("count", [3, 12])
def test_hostile_words_are_only_text(words: str, count: int) -> None:
    text = render(crowded(words, count))
    assert_harmless(text)
    assert shape(text) == shape(render(crowded("harmless", count)))


@given(CANDIDATES)
def test_no_words_are_more_than_text(words: str) -> None:
    text = render(crowded(words))
    assert_harmless(text)
    assert shape(text) == shape(render(crowded("harmless")))


@given(CANDIDATES)
def test_nor_are_the_gates_or_a_refusal(words: str) -> None:
    stopped = result({}, found=prepared(gate=GateResult(passed=False, step="build", output=words, duration=1.0)))
    assert_harmless(render(stopped))
    (fence,) = [token for token in tokens(render(stopped)) if token.type == "fence"]
    assert fence.info == "text"
    refused = result({}, "invalid", invalid=Invalid(words, words, words))
    assert_harmless(render(refused))


@given(CANDIDATES)
def test_a_code_span_is_one_code_span(words: str) -> None:
    (paragraph,) = [token for token in GITHUB.parse(f"- x {code(words)} y") if token.type == "inline"]
    assert [token.type for token in paragraph.children or ()] == ["text", "code_inline", "text"]


@pytest.mark.parametrize("words", ["`" * 5_000, "x" * 5_000, "` " * 3_000, "\n`" * 5_000, "\N{GRINNING FACE}" * 5_000])
def test_it_is_never_too_long_for_a_comment(words: str) -> None:
    text = render(crowded(words, 400))
    assert len(text) <= LONGEST
    assert "more lines in the full report" in text
    assert text.count("<details>") == text.count("</details>") == 1
    invalid = Invalid(words, words)
    assert len(render(replace(crowded(words, 400), invalid=invalid, status="invalid"))) <= LONGEST


def test_a_person_reads_total_axes_and_why() -> None:
    sections = (ReportSection("little", ("4 passed, says the plugin",), {}),)
    text = render(replace(result(LOST), sections=sections), [Path("out/score.json")])
    assert text.startswith("## Lending Desk Bench: 28.2 of 100\n\nNot good enough.\n\n| axis |")
    assert "| completion | 11.0 | 55 |  |" in text
    assert "| adherence | 15.0 | 15 | closeout not measured |" in text
    assert "Checks passed: tier 0: 1 of 1, tier 2: 0 of 1." in text
    assert "### 2 checks failed\n\n- **C**: 1 failed\n  - **C.parallel-reads** `expected both to wait" in text
    assert "### `little`\n\n- `4 passed, says the plugin`\n" in text
    assert "ADV.hook" not in text
    assert text.endswith("More: `score.json`, what the failed checks have seen in `lendbench-evidence`.</sub>\n")
    assert [token.type for token in tokens(text)].count("table_open") == 1


def test_a_whole_and_good_grading_is_short() -> None:
    good = result(dict.fromkeys((spec.id for spec in CATALOG), ("passed", "")), exit_status=0, evidence=None)
    text = render(replace(good, sections=()))
    assert "100.0 of 100\n\nGood.\n" in text
    assert "###" not in text


def test_many_failures_are_folded_in() -> None:
    assert "<details>\n<summary><b>12 checks failed</b></summary>\n\n- **C**: 12 failed" in render(crowded("x", 12))
    assert "and 2 more" in render(crowded("x", 12))


def test_no_number_where_there_is_none() -> None:
    partial = result({"C.heading": ("passed", ""), "P.race": ("failed", "two loans")}, "partial")
    assert render(partial).startswith("## Lending Desk Bench: 1 of 2 selected checks passed\n")
    invalid = render(result(LOST, "invalid", invalid=Invalid("The disk is full.", "Free some space.")))
    assert "says nothing about the candidate.\n\n- `The disk is full.`\n\n**`Free some space.`**" in invalid
    assert "checks failed" not in invalid


def test_it_is_written_where_it_was_asked_for(grader: Grader) -> None:
    grader.suite()
    file = grader.path / "out" / "score.md"
    graded = grader.grade(grader.candidate("one", "extra"), "-n0", f"--score-markdown={file}")
    assert graded.status == 1
    assert "- added file `src/extra.ts`: `Added.`" in file.read_text("utf-8")
    assert "`score.json`" in file.read_text("utf-8")
    wrong = grader.grade(grader.path / "candidate", "-n0", "--score-markdown=nowhere/score.md")
    assert (wrong.status, "--score-markdown: " in wrong.output) == (4, True)
