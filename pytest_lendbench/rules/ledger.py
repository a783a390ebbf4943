"""Who has said what so far: one verdict for each id of the catalog, from any number of reports."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

from pytest_lendbench.rules.catalog import Catalog
from pytest_lendbench.rules.checks import CheckSpec
from pytest_lendbench.rules.evidence import Piece

Verdict = Literal["not-run", "passed", "failed", "errored"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""From the weakest to the strongest: of several reports of one id the strongest verdict holds."""


@dataclass(frozen=True)
class Entry:
    """What is known of one check.

    Attributes:
        spec: The check.
        verdict: `not-run` until something is reported.
        message: Why it failed or errored; empty if it did not.
        evidence: What the check has seen, for a person to look at.
        details: Traceback and captured output of the report that decided.
        duration_s: Seconds, all its reports together.
    """

    spec: CheckSpec
    verdict: Verdict = "not-run"
    message: str = ""
    evidence: tuple[Piece, ...] = ()
    details: str = ""
    duration_s: float = 0.0


@dataclass
class Ledger:
    """The verdicts of one grading. Every id of the catalog has one, from the beginning."""

    catalog: Catalog
    _entries: dict[str, Entry] = field(init=False)

    def __post_init__(self) -> None:
        self._entries = {spec.id: Entry(spec) for spec in self.catalog}

    def report(
        self,
        name: str,
        verdict: Verdict,
        message: str = "",
        *,
        evidence: tuple[Piece, ...] = (),
        details: str = "",
        duration_s: float = 0.0,
    ) -> None:
        """Folds one report of the check `name` into its entry: errored over failed over passed, the first of equals.

        Raises:
            KeyError: The catalog has no such id.
        """
        old = self._entries[name]
        decides = VERDICTS.index(verdict) > VERDICTS.index(old.verdict)
        new = Entry(old.spec, verdict, message, details=details) if decides else old
        # What a check has seen often comes with the report of its end, which repeats what came before.
        seen, duration = tuple(dict.fromkeys((*old.evidence, *evidence))), old.duration_s + duration_s
        self._entries[name] = Entry(new.spec, new.verdict, new.message, seen, new.details, duration)

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def with_verdict(self, *verdicts: Verdict) -> list[Entry]:
        """The entries with one of these verdicts, in the catalog's order."""
        return [entry for entry in self if entry.verdict in verdicts]
