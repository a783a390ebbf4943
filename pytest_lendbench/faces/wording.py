"""Taking the message of a failed check apart, so that what was expected stands beside what happened."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMPARED = re.compile(r"assert (?P<actual>.+) == (?P<expected>.+)")
_LOOKED = re.compile(
    r"(?P<about>.*?) ?(?:Locator |Page )?(?:is )?expected (?P<expected>(?:not )?to [^;\n]*)"
    r"(?:; Actual value: (?P<actual>[^;\n]*))?(?P<rest>.*)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Wording:
    """A message in parts.

    Attributes:
        lead: Its first line: what happened, in words; empty if the comparison is all there is.
        expected: What was expected; empty where it can't be told from the message.
        actual: What happened instead; empty as `expected`.
        rest: Everything else, to be shown as it is.
    """

    lead: str
    expected: str = ""
    actual: str = ""
    rest: str = ""


def parts(message: str) -> Wording:
    """The parts of a message. What can't be told for certain stays in the rest."""
    lines = message.strip().splitlines() or ["(no reason given)"]
    if (looked := _LOOKED.fullmatch(message.strip())) and looked["about"]:
        rest = looked["rest"].lstrip("; \n")
        return Wording("", f"{looked['about']} {looked['expected'].strip()}", _gist(looked["actual"], rest), rest)
    for index, line in enumerate(lines):
        compared = _COMPARED.fullmatch(line.strip())
        if compared and line.count(" == ") == 1:
            rest = "\n".join(lines[index + 1 :]).strip("\n")
            lead = " ".join(line.strip() for line in lines[:index])
            return Wording(lead, compared["expected"], compared["actual"], rest)
    return Wording(lines[0].strip(), rest="\n".join(lines[1:]).strip("\n"))


def _gist(actual: str | None, rest: str) -> str:
    """What was there instead: a value, or the error that says why there is none."""
    if actual and actual.strip() != "None":
        return actual.strip()
    error = re.search(r"Error: ([^;\n]*)", rest)
    return error[1].strip() if error else (actual or "").strip()
