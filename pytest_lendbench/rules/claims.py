"""Taking apart what a candidate has answered. What has not the shape asked for is its fault, not an exception."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pytest_lendbench.rules.errors import CandidateFault

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")

_SHOWN = 300


def only(found: Iterable[T], what: str) -> T:
    """The one thing there is.

    Raises:
        CandidateFault: There is none, or more than one.
    """
    things = list(found)
    if len(things) != 1:
        raise CandidateFault(
            f"Expected one {what}, found {len(things)}. {str(things)[:_SHOWN] if things else ''}".strip()
        )
    return things[0]


def part(data: Any, *path: str) -> Any:
    """A part of JSON: `part(answer.json(), "loan", "dueOn")`.

    Raises:
        CandidateFault: There is no such part.
    """
    found = data
    for name in path:
        if not isinstance(found, dict) or name not in found:
            raise CandidateFault(f"The answer has no {'.'.join(path)}: {str(data)[:_SHOWN]}")
        found = found[name]
    return found


def texts(data: Any, name: str) -> list[str]:
    """One text of each object in a list: `texts(part(answer.json(), "loans"), "id")`.

    Raises:
        CandidateFault: It is no list of objects with such a text.
    """
    if not isinstance(data, list):
        raise CandidateFault(f"Expected a list, found {str(data)[:_SHOWN]}")
    found = [part(one, name) for one in data]
    if not all(isinstance(one, str) for one in found):
        raise CandidateFault(f"{name} is not always a text: {str(found)[:_SHOWN]}")
    return found
