"""One verdict for each id, whatever is reported how often."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.rules.catalog import Catalog
from pytest_lendbench.rules.checks import CheckSpec
from pytest_lendbench.rules.evidence import Note
from pytest_lendbench.rules.exit_status import exit_status
from pytest_lendbench.rules.ledger import VERDICTS, Ledger

CATALOG = Catalog.of(
    [
        CheckSpec("A.one", "check", "A", 0, 1, "A.1", "A sentence.", "it is so"),
        CheckSpec("P.two", "probe", "P", 1, 1, "", "A reason.", "it is not so"),
        CheckSpec("ADV.three", "advisory", "ADV", None, 1, "", "A reason.", "it is nice"),
    ]
)
reports = st.lists(st.tuples(st.sampled_from(["A.one", "P.two", "ADV.three"]), st.sampled_from(VERDICTS)))


def test_every_id_is_there_before_anything_has_run() -> None:
    assert {entry.spec.id: entry.verdict for entry in Ledger(CATALOG)} == dict.fromkeys(
        ("A.one", "P.two", "ADV.three"), "not-run"
    )


@given(reports)
def test_the_worst_of_all_reports_holds(said: list[tuple[str, str]]) -> None:
    ledger = Ledger(CATALOG)
    for name, verdict in said:
        ledger.report(name, verdict, duration_s=0.5)  # type: ignore[arg-type]
    for entry in ledger:
        own = {verdict for name, verdict in said if name == entry.spec.id}
        worst = next(verdict for verdict in ("errored", "failed", "passed", "not-run") if verdict in own | {"not-run"})
        assert entry.verdict == worst
        assert entry.duration_s == 0.5 * sum(name == entry.spec.id for name, _ in said)


def test_the_first_failure_gives_the_reason() -> None:
    ledger = Ledger(CATALOG)
    ledger.report("A.one", "failed", "first", evidence=(Note("seen"),), details="here")
    ledger.report("A.one", "failed", "second")
    ledger.report("A.one", "passed")
    found = ledger["A.one"]
    assert (found.message, found.evidence, found.details) == ("first", (Note("seen"),), "here")


def test_an_unknown_id_is_not_dropped_silently() -> None:
    with pytest.raises(KeyError):
        Ledger(CATALOG).report("A.unknown", "passed")


@given(reports, st.sampled_from(["scored", "partial", "invalid"]), st.floats(0, 100), st.none() | st.floats(0, 100))
def test_the_exit_status(said: list[tuple[str, str]], status: str, total: float, least: float | None) -> None:
    ledger = Ledger(CATALOG)
    for name, verdict in said:
        ledger.report(name, verdict)  # type: ignore[arg-type]
    found = exit_status(status, total if status == "scored" else None, least, ledger)  # type: ignore[arg-type]
    scored = {entry.verdict for entry in ledger if entry.spec.scored}
    if status == "invalid":
        assert found == 10
    elif status == "partial":
        assert found == (1 if "failed" in scored else 0)
    elif least is not None:
        assert found == (0 if total >= least else 1)
    else:
        assert found == (1 if scored & {"failed", "not-run"} else 0)
