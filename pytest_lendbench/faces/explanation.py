"""All there is to know of one check: `lendbench explain ID`."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from pytest_lendbench.bench.check_source import sources
from pytest_lendbench.bench.specimen import defects
from pytest_lendbench.faces.words import prose
from pytest_lendbench.rules.errors import InstrumentError, UsageProblem
from pytest_lendbench.rules.sentences import sentences
from pytest_lendbench.rules.worth import worth
from pytest_lendbench.text import plain

if TYPE_CHECKING:
    from pytest_lendbench.rules.catalog import Catalog
    from pytest_lendbench.rules.checks import CheckSpec
    from pytest_lendbench.rules.comparison import Graded
    from pytest_lendbench.suite import Suite


def explain(name: str, suite: Suite, result: Graded | None, columns: int) -> list[str]:
    """What a check is, what it is worth, what it asks for, what it catches, and its verdict in `result`.

    Args:
        name: Its id, in upper or lower case.
        suite: The checks.
        result: A grading; `None` if none was named.
        columns: How long a line of prose may be.

    Raises:
        UsageProblem: There is no such check.
        InstrumentError: The installation is not whole.
    """
    catalog = suite.read_catalog()
    spec = _named(name, catalog)
    lines = [f"{spec.id}  {spec.title}", "", *_facts(spec, catalog, columns)]
    lines += ["", "What it asks for:", *_asks(spec, suite, columns)]
    lines += ["", *_source(spec, suite, columns)]
    lines += ["", *_defects(spec, columns)]
    return [*lines, "", *_verdict(spec, result, columns)]


def _named(name: str, catalog: Catalog) -> CheckSpec:
    ids = {spec.id.lower(): spec for spec in catalog}
    if (spec := ids.get(name.lower())) is not None:
        return spec
    # Somebody who forgets the domain should find the check all the same.
    bare = {one.partition(".")[2]: one for one in ids}
    near = difflib.get_close_matches(name.lower(), [*ids, *bare], n=3, cutoff=0.5)
    meant = list(dict.fromkeys(ids[bare.get(one, one)].id for one in near))
    todo = f"Did you mean {' or '.join(meant)}?" if meant else "`lendbench checks` lists them all."
    raise UsageProblem(f"There is no check {name!r}. {todo}")


def _facts(spec: CheckSpec, catalog: Catalog, columns: int) -> list[str]:
    facts = {"kind": spec.kind, "domain": spec.domain}
    if spec.tier is not None:
        facts |= {"tier": str(spec.tier), "weight": f"{spec.weight:g}"}
        facts["worth"] = f"{float(worth(catalog, spec.id)):.2f} of 100 points, where all else passes"
    else:
        facts["worth"] = "nothing: it is reported, never scored"
    return [line for label, text in facts.items() for line in prose(f"{label:8} {text}", 2, columns)]


def _asks(spec: CheckSpec, suite: Suite, columns: int) -> list[str]:
    if not spec.spec:
        return prose(spec.why, 2, columns)
    told = sentences(suite.read_spec())
    numbers = [number.strip() for number in spec.spec.split(",")]
    return [line for number in numbers for line in prose(f"{number}  {told.get(number, spec.why)}", 2, columns)]


def _source(spec: CheckSpec, suite: Suite, columns: int) -> list[str]:
    try:
        source = sources(suite.paths).get(spec.id)
    except (OSError, ValueError, SyntaxError) as error:
        raise InstrumentError(f"The checks cannot be read: {error}.", "Install the grader again.") from error
    if source is None:
        return ["Its source was not found."]
    lines = [f"What it does: {source.file}:{source.line}"]
    if source.docstring:
        return [*lines, *prose(source.docstring, 2, columns)]
    return [*lines, "", *(f"  {line}".rstrip() for line in source.text.splitlines())]


def _defects(spec: CheckSpec, columns: int) -> list[str]:
    caught = [one for one in defects() if spec.id in one.caught_by]
    if not caught:
        return ["No defect is made for it."]
    lines = ["Faults that it must catch:"]
    for one in caught:
        lines += [f"  {one.id}", *prose(one.arises, 6, columns)]
    return lines


def _verdict(spec: CheckSpec, result: Graded | None, columns: int) -> list[str]:
    if result is None:
        return [
            "Its verdict on a tree:",
            "  lendbench grade PATH --score-json=score.json",
            f"  lendbench explain {spec.id} --result=score.json",
        ]
    said = result.checks.get(spec.id)
    if said is None:
        return [f"{result.name} knows no such check: it is the result of another version."]
    return [f"In {plain(result.name)}: {said.verdict}", *prose(said.why, 2, columns)]
