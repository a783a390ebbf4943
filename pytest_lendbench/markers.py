"""The markers by which a check says what it is, read at collection and held against the catalog.

A check is marked with keyword arguments only, so that `-m 'check(tier=1)'` selects on them.
"""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from pytest_lendbench.rules.checks import ADVISORY_DOMAIN, PROBE_DOMAIN, CheckError, CheckSpec, Kind
from pytest_lendbench.rules.errors import InstrumentError
from pytest_lendbench.rules.sentences import cited, sentences
from pytest_lendbench.suite import REWRITE, Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pytest_lendbench.rules.catalog import Catalog

SPEC = pytest.StashKey[CheckSpec]()
"""On a collected item: what it is."""


def domain(*, name: str) -> str:
    """The product surface of all checks of a module: `A` … `H`."""
    return name


def check(*, id: str, tier: int, spec: str) -> tuple[str, int, str]:  # noqa: A002 (the markers' own word)
    """A scored test of the spec's sentence `spec` (`C.11`; several as `C.4, C.7`)."""
    return id, tier, spec


def probe(*, id: str, tier: int, why: str) -> tuple[str, int, str]:  # noqa: A002
    """A scored test of a realistic mistake; `why` says why a careful engineer avoids it. Tier 1 or 2."""
    return id, tier, why


def advisory(*, id: str, why: str) -> tuple[str, None, str]:  # noqa: A002
    """A test that is reported and never scored."""
    return id, None, why


def weight(*, points: float) -> float:
    """A share within the axis other than the normal 1."""
    return points


_KINDS: dict[Kind, Callable[..., tuple[str, int | None, str]]] = {"check": check, "probe": probe, "advisory": advisory}


def declare(config: pytest.Config) -> None:
    """Makes the markers known to pytest."""
    for marker in (domain, check, probe, advisory, weight):
        text = (inspect.getdoc(marker) or "").replace("\n", " ")
        config.addinivalue_line("markers", f"{marker.__name__}{_signature(marker)}: {text}")


def _signature(marker: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(marker, eval_str=True).replace(return_annotation=inspect.Signature.empty)


def read(item: pytest.Item, spec_sentences: dict[str, str]) -> CheckSpec:
    """What the markers of a collected test say.

    Raises:
        CheckError: They are missing, wrong, or contradict each other.
    """
    kinds = [kind for kind in _KINDS if any(item.iter_markers(kind))]
    if len(kinds) != 1:
        raise CheckError(
            f"It needs one of the markers check, probe and advisory, and has {' and '.join(kinds) or 'none'}."
        )
    kind = kinds[0]
    name, tier, words = _call(item, kind, _KINDS[kind])
    points = _call(item, "weight", weight) if item.get_closest_marker("weight") else 1
    if isinstance(points, bool) or not isinstance(points, int | float):
        raise CheckError(f"{name}: points of @pytest.mark.weight is a number, not {points!r}.")
    if not all(isinstance(text, str) for text in (name, words)) or isinstance(tier, bool):
        raise CheckError(f"An argument of @pytest.mark.{kind} has a wrong type: {name!r}, {tier!r}, {words!r}.")
    surface = {"probe": PROBE_DOMAIN, "advisory": ADVISORY_DOMAIN}.get(kind) or _call(item, "domain", domain)
    spec, why = "", words
    if kind == "check":
        try:
            spec, why = words, cited(words, spec_sentences)
        except LookupError as error:
            raise CheckError(f"{name}: {error.args[0]}") from error
    function = getattr(item, "originalname", item.name)
    title = function.removeprefix("test_").replace("_", " ")
    return CheckSpec(name, kind, surface, tier, points, spec, why, title)


def _call(item: pytest.Item, name: str, signature: Callable[..., Any]) -> Any:
    """Calls the marker's signature with what stands on the item, so that Python itself says what is wrong."""
    marker = item.get_closest_marker(name)
    if marker is None:
        raise CheckError(f"The marker {name} is missing: pytestmark = pytest.mark.{name}(…).")
    try:
        return signature(*marker.args, **marker.kwargs)
    except TypeError as error:
        raise CheckError(f"@pytest.mark.{name}: {error}. It is {name}{_signature(signature)}.") from error


class MarkerGuard:
    """Reads the markers of every test as it is collected; a wrong one is a collection error that says what is wrong.

    Args:
        suite: Whose spec the checks cite.
        catalogued: Whether the markers must agree with the suite's catalog; not so while it is being made.
    """

    def __init__(self, suite: Suite, *, catalogued: bool = True) -> None:
        self._suite = suite
        self._catalogued = catalogued
        self._where: dict[str, str] = {}

    @cached_property
    def _sentences(self) -> dict[str, str]:
        return sentences(self._suite.read_spec())

    @cached_property
    def _catalog(self) -> Catalog | None:
        return self._suite.read_catalog() if self._catalogued else None

    @pytest.hookimpl(wrapper=True)
    def pytest_pycollect_makeitem(self, collector: pytest.Collector, name: str) -> Generator[None, object, object]:
        """One function makes one item, or several when it is parametrised: they are one check."""
        made = yield
        items = [item for item in (made if isinstance(made, list) else [made]) if isinstance(item, pytest.Item)]
        if not items:
            return made
        try:
            spec = read(items[0], self._sentences)
            self._hold_against(spec, f"{collector.nodeid}::{name}")
        except (CheckError, InstrumentError) as error:
            raise pytest.Collector.CollectError(f"{collector.nodeid}::{name}: {error}") from error
        for item in items:
            item.stash[SPEC] = spec
            item.extra_keyword_matches.add(spec.id)
        return made

    def _hold_against(self, spec: CheckSpec, where: str) -> None:
        if self._where.setdefault(spec.id, where) != where:
            raise CheckError(f"The id {spec.id} is already that of {self._where[spec.id]}.")
        if self._catalog is not None and self._catalog.get(spec.id) != spec:
            raise CheckError(f"{spec.id} is not as the catalog has it. {REWRITE}")
