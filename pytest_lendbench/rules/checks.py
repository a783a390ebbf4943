"""What a check is: its id and how much it counts. The markers on a test function say it, the catalog repeats it."""

import re
from dataclasses import dataclass
from typing import Literal, Self, get_args

Kind = Literal["check", "probe", "advisory"]
KINDS: tuple[Kind, ...] = get_args(Kind)

PROBE_DOMAIN = "P"
ADVISORY_DOMAIN = "ADV"

DOMAINS = {
    "A": "Status",
    "B": "Item card",
    "C": "Catalogue",
    "D": "Detail",
    "E": "Forms",
    "F": "Lending and returning",
    "G": "API",
    "H": "While it waits, when it fails",
    PROBE_DOMAIN: "Probes",
    ADVISORY_DOMAIN: "Advice",
}
"""What the domains are about, in the words of the spec."""

_ID = re.compile(r"(?P<domain>[A-Z][A-Z0-9]*)\.[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*", re.ASCII)
_TIERS: dict[Kind, tuple[int, ...]] = {"check": (0, 1, 2), "probe": (1, 2), "advisory": ()}


class CheckError(ValueError):
    """A check says something about itself that cannot be. The message is for its author."""


@dataclass(frozen=True, order=True)
class CheckSpec:
    """One check, probe or advisory.

    Attributes:
        id: Its domain, a dot and a name: `C.parallel-reads`. Unique in the catalog.
        kind: `check` (completion), `probe` or `advisory` (reported, never scored).
        domain: The product surface: `A` … `H`; `P` for probes, `ADV` for advisories.
        tier: 0, 1 or 2 by how much is lost when it fails; `None` for advisories.
        weight: Its share within its axis, above 0; 1 is normal.
        spec: The numbers of the spec's sentences that it tests (`C.11`, or `C.4, C.7`); empty for others than checks.
        why: Those sentences; of a probe or advisory, why a careful engineer minds.
        title: What it shows, as a phrase.

    Raises:
        CheckError: These values contradict each other.
    """

    id: str
    kind: Kind
    domain: str
    tier: int | None
    weight: float
    spec: str
    why: str
    title: str

    def __post_init__(self) -> None:
        named = _ID.fullmatch(self.id)
        if named is None:
            raise CheckError(f"The id {self.id!r} is not of the form DOMAIN.some-name.")
        if named["domain"] != self.domain:
            raise CheckError(f"The id {self.id!r} must begin with its domain, {self.domain!r}.")
        if self.kind not in KINDS:
            raise CheckError(f"{self.id}: the kind {self.kind!r} is none of {', '.join(KINDS)}.")
        reserved = {"probe": PROBE_DOMAIN, "advisory": ADVISORY_DOMAIN}.get(self.kind)
        if self.domain != reserved and (reserved or self.domain in {PROBE_DOMAIN, ADVISORY_DOMAIN}):
            raise CheckError(f"{self.id}: a {self.kind} cannot be in domain {self.domain}.")
        tiers = _TIERS[self.kind]
        if (self.tier is None) != (not tiers) or (tiers and self.tier not in tiers):
            allowed = " or ".join(map(str, tiers)) or "none"
            raise CheckError(f"{self.id}: the tier of a {self.kind} is {allowed}, not {self.tier}.")
        if not 0 < self.weight <= 100:
            raise CheckError(f"{self.id}: the weight must be above 0 and at most 100, not {self.weight}.")
        if bool(self.spec) != (self.kind == "check"):
            raise CheckError(f"{self.id}: a check cites a sentence of the spec, and only a check does.")
        if not self.why.strip() or not self.title.strip():
            raise CheckError(f"{self.id}: say why it is there, and name its function for what it shows.")

    @property
    def scored(self) -> bool:
        return self.kind != "advisory"

    def to_dict(self) -> dict[str, str | int | float]:
        """As built-in values, without what is empty. `from_dict` takes it back."""
        return {name: value for name, value in vars(self).items() if value not in {None, ""}}

    @classmethod
    def from_dict(cls, values: dict[str, str | int | float]) -> Self:
        """The opposite of `to_dict`.

        Raises:
            CheckError: A value is missing, unknown, of a wrong type, or contradicts another.
        """
        kinds: dict[str, tuple[type, ...]] = {"tier": (int,), "weight": (int, float)}
        full: dict[str, str | int | float | None] = {"tier": None, "spec": "", **values}
        for name, value in full.items():
            wanted = kinds.get(name, (str,))
            if (value is not None or name != "tier") and (isinstance(value, bool) or not isinstance(value, wanted)):
                raise CheckError(f"{values.get('id', 'An entry')}: {name} cannot be {value!r}.")
        try:
            return cls(**full)  # type: ignore[arg-type]
        except TypeError as error:
            raise CheckError(f"{values.get('id', 'An entry')}: {error}.") from error
