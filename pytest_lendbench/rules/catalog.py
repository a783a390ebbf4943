"""All checks there are: the denominator of every score. Made from the markers, committed as text."""

import hashlib
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import tomli_w

from pytest_lendbench.rules.checks import KINDS, CheckError, CheckSpec

_HEAD = "# Generated from the markers on the checks by `lendbench checks --write`. Do not edit.\n"


@dataclass(frozen=True)
class Catalog:
    """The checks by id, in the catalog's order: checks, probes, advisories, each by domain, tier and id.

    Raises:
        CheckError: Two entries have one id, or there is no completion check.
    """

    specs: tuple[CheckSpec, ...]

    def __post_init__(self) -> None:
        ids = [spec.id for spec in self.specs]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise CheckError(f"Two entries have one id: {', '.join(twice)}.")
        if not any(spec.kind == "check" for spec in self.specs):
            raise CheckError("The catalog has no completion check.")

    @classmethod
    def of(cls, specs: Iterable[CheckSpec]) -> Self:
        """The catalog of these checks, put into order."""
        return cls(tuple(sorted(specs, key=lambda one: (KINDS.index(one.kind), one.domain, one.tier or 0, one.id))))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Reads a catalog file.

        Raises:
            CheckError: The text is not a catalog.
        """
        try:
            entries = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise CheckError(f"It is not TOML: {error}.") from error
        if entries.keys() - {"check"} or not isinstance(entries.get("check", []), list):
            raise CheckError("A catalog has entries [[check]] and nothing else.")
        return cls.of(CheckSpec.from_dict(entry) for entry in entries.get("check", []))

    def to_text(self) -> str:
        """The catalog file."""
        return f"{_HEAD}\n{tomli_w.dumps({'check': [spec.to_dict() for spec in self.specs]})}"

    @property
    def sha256(self) -> str:
        """Of the text: two gradings with one hash have one denominator."""
        return hashlib.sha256(self.to_text().encode()).hexdigest()

    def get(self, name: str) -> CheckSpec | None:
        return next((spec for spec in self.specs if spec.id == name), None)

    def __iter__(self) -> Iterator[CheckSpec]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)
