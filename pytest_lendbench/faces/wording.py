"""Taking the message of a failed check apart, so that what was expected stands beside what happened."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMPARED = re.compile(r"assert (?P<actual>.+) == (?P<expected>.+)")
_LOOKED = re.compile(r"(?P<about>.+?) (?:is )?expected (?P<expected>(?:not )?to .+)")
_TRIED = re.compile(
    r"Locator\.(?P<act>\w+): Timeout [\d.]+ms exceeded\.;? *Call log:;? *- waiting for (?P<about>[^;]+)"
)
_VALUE = re.compile(r"Actual value: (.*)")
_ERROR = re.compile(r"Error: (.*)")
_NOT_FOUND = "element(s) not found"
_LOG = "Call log:"


@dataclass(frozen=True)
class Wording:
    """A message in parts.

    Attributes:
        lead: Its first line: what happened, in words; empty if the comparison is all there is.
        expected: What was expected; empty where it can't be told from the message.
        actual: What happened instead; empty as `expected`.
        missing: What was looked for on a page and not there at all.
        rest: Everything else, to be shown as it is.
    """

    lead: str = ""
    expected: str = ""
    actual: str = ""
    missing: str = ""
    rest: str = ""

    @property
    def reason(self) -> str:
        """In a few words, the same for checks that failed for the same reason."""
        if self.missing:
            return f"{self.missing} is not on the page"
        return self.lead or f"{self.expected}: {self.actual}"


def parts(message: str) -> Wording:
    """The parts of a message. What can't be told for certain stays in the rest."""
    lines = message.strip().splitlines() or ["(no reason given)"]
    return _playwrights(lines) or _compared(lines) or Wording(lines[0].strip(), rest=_text(lines[1:]))


def _playwrights(lines: list[str]) -> Wording | None:
    """Of a message that Playwright has written."""
    if tried := _TRIED.fullmatch(" ".join(line.strip() for line in lines)):
        about = tried["about"].strip()
        actual = "nothing like it, though page and server had come to rest"
        return Wording(expected=f"{about}, to {tried['act'].replace('_', ' ')}", actual=actual, missing=about)
    log = next((index for index, line in enumerate(lines) if line.strip().startswith(_LOG)), None)
    looked = _LOOKED.fullmatch(lines[0].strip())
    if log is None or looked is None:
        return None
    said = "\n".join(lines[1:log])
    value, error = (found[1].strip() if (found := of.search(said)) else "" for of in (_VALUE, _ERROR))
    actual = value if value not in {"", "None"} else error or value
    missing = looked["about"] if error == _NOT_FOUND else ""
    return Wording("", f"{looked['about']} {looked['expected']}", actual, missing, _text(lines[log:]))


def _compared(lines: list[str]) -> Wording | None:
    """Of a message that pytest has written about two values."""
    for index, line in enumerate(lines):
        compared = _COMPARED.fullmatch(line.strip())
        if compared and line.count(" == ") == 1:
            lead = " ".join(line.strip() for line in lines[:index])
            return Wording(lead, compared["expected"], compared["actual"], rest=_text(lines[index + 1 :]))
    return None


def _text(lines: list[str]) -> str:
    return "\n".join(lines).strip("\n")
