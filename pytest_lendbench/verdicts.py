"""What one report of one check says: whose fault an exception is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import pytest

from pytest_lendbench.rules import evidence
from pytest_lendbench.rules.errors import CandidateFault, InstrumentError
from pytest_lendbench.rules.evidence import Event, Log, Note, Piece, Recording, Screenshot, Trace
from pytest_lendbench.text import plain

if TYPE_CHECKING:
    from pytest_lendbench.rules.ledger import Verdict

Raised = pytest.ExceptionInfo[BaseException] | None

MESSAGE_LIMIT = 2_000
EVIDENCE_LIMIT = 20_000
_NAME_LIMIT = 200
"""Characters of an operation's name or arguments, or of an address."""


@dataclass(frozen=True)
class Said:
    """One report's verdict on one check, as it travels from a worker to the controller.

    Attributes:
        id: Of the check.
        verdict: `not-run` if the report decides nothing (a set-up that went well).
        message: Why it failed or errored.
        evidence: What the check and its fixtures have noted with `record_property("evidence", …)`: text or pieces.
    """

    id: str
    verdict: Verdict
    message: str
    evidence: tuple[Piece, ...]

    def to_property(self) -> tuple[str, dict[str, Any]]:
        return _PROPERTY, {**vars(self), "evidence": evidence.to_json(self.evidence)}

    @classmethod
    def of(cls, report: pytest.TestReport) -> Self | None:
        """The opposite of `to_property`; `None` for a report that isn't one of a check."""
        for name, value in report.user_properties:
            if name == _PROPERTY and isinstance(value, dict):
                return cls(**{**value, "evidence": evidence.from_json(value["evidence"])})
        return None


_PROPERTY = "lendbench"


def judge(report: pytest.TestReport, error: BaseException | None, *, in_check: bool) -> tuple[Verdict, str]:
    """The verdict of one phase of a check, and why.

    Only an assertion that the check itself has made, or a fault that is proven to be the candidate's, makes it
    `failed`; everything else that goes wrong is the grader's and makes it `errored`.

    Args:
        report: Of the phase.
        error: What was raised in it.
        in_check: Whether that came up through the check's own function, and not through a fixture or a plugin.
    """
    if report.skipped or hasattr(report, "wasxfail"):
        return "errored", "It was skipped or expected to fail. A check must have a verdict."
    if report.passed:
        return ("passed" if report.when == "call" else "not-run"), ""
    if error is None:
        return "errored", report.longreprtext
    words = str(error)
    if _blames_candidate(error, in_check=in_check):
        return "failed", words or "An assertion failed."
    if isinstance(error, InstrumentError):
        return "errored", words
    return "errored", f"{type(error).__name__} in the {report.when} of the check: {words}"


def _blames_candidate(error: BaseException, *, in_check: bool) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_blames_candidate(one, in_check=in_check) for one in error.exceptions)
    if isinstance(error, CandidateFault):
        return True
    return in_check and isinstance(error, AssertionError | pytest.fail.Exception)


def record(item: pytest.Item, name: str, report: pytest.TestReport, raised: Raised) -> None:
    """Puts the verdict on the check `name` on the report, and makes it safe to send: it may quote the candidate."""
    error = raised.value if raised else None
    in_check = report.when == "call" and raised is not None and any(at.path == item.path for at in raised.traceback)
    verdict, message = judge(report, error, in_check=in_check)
    seen: list[Piece] = []
    others: list[tuple[str, object]] = []
    for key, value in report.user_properties:
        if key == "evidence":
            seen.append(_limited(value))
        else:
            others.append((key, value))
    said = Said(name, verdict, plain(message, MESSAGE_LIMIT), tuple(seen))
    report.user_properties = [*others, said.to_property()]
    report.sections = [(title, plain(text)) for title, text in report.sections]
    if report.failed:
        report.longrepr = plain(report.longreprtext)


def _limited(value: object) -> Piece:
    """A piece of evidence with its text made safe and short; a value that is none becomes a note."""
    match value:
        case Log(text):
            return Log(plain(text, EVIDENCE_LIMIT))
        case Trace(events):
            return Trace(tuple(_limited_event(event) for event in events))
        case Screenshot(png, address):
            return Screenshot(png, plain(address, _NAME_LIMIT))
        case Recording():
            return value
        case Note(text):
            return Note(plain(text, EVIDENCE_LIMIT))
    return Note(plain(str(value), EVIDENCE_LIMIT))


def _limited_event(event: Event) -> Event:
    tag, request, name, args = (plain(text, _NAME_LIMIT) for text in (event.tag, event.request, event.name, event.args))
    return replace(event, tag=tag, request=request, name=name, args=args)
