"""What a failed check has seen, piece by piece, as it travels from a worker to the reports.

Text in it may be the candidate's. Who makes a piece limits it; who shows it escapes it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Note:
    """A text that a check has noted."""

    text: str


@dataclass(frozen=True)
class Log:
    """The end of the server's log, of the time of the check alone."""

    text: str


@dataclass(frozen=True)
class Event:
    """One operation that the store was asked for.

    Attributes:
        seq: Its place among those of the check's last seed, from 1.
        tag: Of its request; empty if it has none.
        request: That request: `GET /items`; empty if it belongs to none.
        name: Such as `loans.list`.
        args: Its arguments as text.
        asked_ms: When it was asked for, in milliseconds since the seed.
        asked_step: The place of that among everything that was asked and answered, from 0.
        answered_ms: As `asked_ms`; `None` if it was never answered.
        answered_step: As `asked_step`.
        held: Whether the check kept it waiting.
        failed: Whether it was answered with an error.
    """

    seq: int
    tag: str
    request: str
    name: str
    args: str
    asked_ms: float
    asked_step: int
    answered_ms: float | None = None
    answered_step: int | None = None
    held: bool = False
    failed: bool = False


@dataclass(frozen=True)
class Trace:
    """What the store was asked for: the last operations of the check, in the order of asking."""

    events: tuple[Event, ...]


@dataclass(frozen=True)
class Screenshot:
    """What a page of the app looked like at the end of the check.

    Attributes:
        png: The picture, base64.
        address: Of the page, without the server's part.
    """

    png: str
    address: str


@dataclass(frozen=True)
class Recording:
    """A trace of Playwright's: the name of a file in the directory of evidence."""

    file: str


Piece = Note | Log | Trace | Screenshot | Recording
PIECES: dict[str, type[Piece]] = {kind.__name__: kind for kind in (Note, Log, Trace, Screenshot, Recording)}


def to_json(pieces: Iterable[Piece]) -> list[dict[str, Any]]:
    """Plain JSON; `from_json` reads it."""
    return [{"kind": type(piece).__name__, **asdict(piece)} for piece in pieces]


def from_json(data: Iterable[Mapping[str, Any]]) -> tuple[Piece, ...]:
    """The pieces that `to_json` wrote."""
    return tuple(_piece(**one) for one in data)


def _piece(kind: str, **values: Any) -> Piece:
    if kind == Trace.__name__:
        return Trace(tuple(Event(**event) for event in values["events"]))
    return PIECES[kind](**values)


def screenshots(name: str, pieces: Iterable[Piece]) -> dict[str, Screenshot]:
    """The pictures of the check `name` by the names of their files: `C.order-1.png`."""
    shots = (piece for piece in pieces if isinstance(piece, Screenshot))
    return {f"{name}-{number}.png": shot for number, shot in enumerate(shots, 1)}


def texts(name: str, pieces: Iterable[Piece]) -> list[str]:
    """The pieces of the check `name` as text, in their order; files by their names."""
    pieces = tuple(pieces)
    files = iter(screenshots(name, pieces))
    return [next(files) if isinstance(piece, Screenshot) else _text(piece) for piece in pieces]


def _text(piece: Note | Log | Trace | Recording) -> str:
    match piece:
        case Note(text):
            return text
        case Log(text):
            return f"The server's log:\n{text or '(nothing)'}"
        case Trace(events):
            lines = [f"{event.seq:4} {event.tag or '-':6} {event.name} {event.args}" for event in events]
            return "\n".join(["What the store was asked for:", *(lines or ["(nothing)"])])
        case Recording(file):
            return file
