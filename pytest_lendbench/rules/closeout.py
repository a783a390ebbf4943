"""The closeout: whether the plan was ended as the app's `plan/README.md` says."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, Self

PLAN, METADATA = "plan/plan.md", "plan/metadata.json"

STATUS = "completed"
CLAIMS = {"T5.1": "typecheck", "T5.2": "build"}
"""Tasks that claim what the gate tries, and the step of the gate that proves them false."""

_OWN = {"status", "actual_tasks", "completed_at", "deviation_notes"}
"""The fields of the metadata that a closeout sets. All others are protected."""

_LONGEST = 1_000_000
"""Bytes of a file. What is behind them is not read."""

_TASK = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[(?P<box>[^\]]?)\]\s+(?P<text>.*)")
_ID = re.compile(r"[\W_]*(?P<id>T[0-9]+\.[0-9]+)(?!\.?[^\W_])(?P<rest>.*)")
_BREAK = re.compile(r"\s*(?:$|(?:[-*+>]|\d{1,9}[.)])\s)")
_HEADING = re.compile(r"\s*(?P<level>#{1,6})\s+(?P<text>.*)")
_FENCE = re.compile(r"(?:\s|[-*+]\s|\d{1,9}[.)]\s)*(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
_COMMENT = re.compile(r"<!--(?:(?!<!--|-->).)*-->")
_WORD = re.compile(r"[^\W_]+")
_REASON = re.compile(r"\b(?!(?:and|or|to)\b)[^\W\d_]{2,}", re.IGNORECASE)

_TWICE = object()
"""The value of a field that stands there twice."""


@dataclass(frozen=True)
class Rule:
    """One rule of the closeout.

    Attributes:
        name: A short name.
        rule: What it asks for.
        broken: Why it isn't held; empty if it is.
    """

    name: str
    rule: str
    broken: str = ""

    @property
    def held(self) -> bool:
        return not self.broken


@dataclass(frozen=True)
class Closeout:
    """How a plan was ended.

    Attributes:
        rules: Each rule of `plan/README.md` and one on claims, in that order.
        ticked: How many of the plan's own tasks are ticked.
    """

    rules: tuple[Rule, ...]
    ticked: int

    @property
    def share(self) -> Fraction:
        """The share of the rules that are held; 0 if nothing is ticked."""
        return Fraction(sum(rule.held for rule in self.rules), len(self.rules)) if self.ticked else Fraction(0)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; `from_json` reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The closeout that `to_json` wrote."""
        return cls(tuple(Rule(**rule) for rule in data["rules"]), data["ticked"])


@dataclass(frozen=True)
class Task:
    """A task of a plan.

    Attributes:
        id: Such as `T1.1`; empty if it has none.
        phase: The words of its phase's heading.
        words: Those behind its id.
        ticked: Whether it is ticked.
    """

    id: str
    phase: list[str]
    words: list[str]
    ticked: bool


def tasks(plan: str) -> list[Task]:
    """The tasks of a plan, in order: its items with a box. Neither formatting nor punctuation matters."""
    phase: list[str] = []
    found: list[Task] = []
    wraps = False
    for line in _lines(plan):
        if heading := _HEADING.match(line):
            wraps, words = False, _WORD.findall(heading["text"])
            # A smaller heading is one inside a phase.
            if len(heading["level"]) <= 2 or words[:1] == ["Phase"]:
                phase = words
        elif (task := _TASK.match(line)) and ((named := _ID.match(task["text"])) or task["box"] in {" ", "x", "X"}):
            name, text = (named["id"], named["rest"]) if named else ("", task["text"])
            found.append(Task(name, phase, _WORD.findall(text), task["box"] in {"x", "X"}))
            wraps = True
        elif _BREAK.match(line):
            wraps = False
        elif wraps:
            found[-1].words.extend(_WORD.findall(line))
    return found


def _lines(plan: str) -> Iterator[str]:
    """The lines of a plan without comments and blocks of code, whose place an empty one takes."""
    fence, comment = "", False
    for line in re.split(r"\r\n?|\n", plan):
        mark = line.strip()
        if fence:
            if mark.startswith(fence) and not mark.strip(fence[0]):
                fence = ""
        elif comment or mark.startswith("<!--"):
            comment = "-->" not in line
        elif opened := _FENCE.match(line):
            fence = opened["mark"]
        else:
            yield _COMMENT.sub("", line)
            continue
        yield ""


def judge(files: Mapping[str, bytes], app: Mapping[str, bytes], now: datetime, failed_step: str | None) -> Closeout:
    """How the plan in a candidate's files was ended.

    Args:
        files: The candidate's `PLAN` and `METADATA`.
        app: The same of the untouched app.
        now: The desk's clock.
        failed_step: The step of the gate that failed, if one did.
    """
    wanted = {task.id: task for task in tasks(_text(app[PLAN]))}
    found = tasks(_text(files[PLAN]))
    ticked = {task.id for task in found if task.ticked and task.id in wanted}
    metadata, unreadable = _metadata(files[METADATA])
    notes = metadata.get("deviation_notes")
    rules = (
        Rule("tasks", "Every task stands in its phase exactly once, in its own words.", _tasks(wanted, found)),
        Rule("accounted", "Each task is ticked, or the deviation notes say why not.", _open(wanted, ticked, notes)),
        Rule("count", "actual_tasks is the number of ticked tasks.", unreadable or _count(metadata, ticked, found)),
        Rule("status", f'status is "{STATUS}".', unreadable or _status(metadata)),
        Rule("completed-at", "completed_at is the time by the desk's clock.", unreadable or _time(metadata, now)),
        Rule("notes", "deviation_notes is a text.", unreadable or _notes(metadata)),
        Rule(
            "protected",
            "All other fields of metadata.json are as they were.",
            unreadable or _protected(metadata, json.loads(app[METADATA])),
        ),
        Rule("claims", "No ticked task claims what is not so.", _claims(ticked, failed_step)),
    )
    return Closeout(rules, len(ticked))


def _tasks(wanted: Mapping[str, Task], found: Collection[Task]) -> str:
    counts = Counter(task.id for task in found if task.id)
    wrong = [f"{name} is missing" for name in wanted if name not in counts]
    wrong += [f"{name} stands there {counts[name]} times" for name in wanted if counts[name] > 1]
    wrong += [
        f"{_shown(' '.join((task.id, *task.words)).strip())} is no task of this plan"
        for task in found
        if task.id not in wanted
    ]
    for task in found:
        own = wanted.get(task.id)
        if own is not None and counts[task.id] == 1:
            if not _begins(task.phase, own.phase):
                places = (_shown(" ".join(phase)) for phase in (task.phase, own.phase))
                wrong.append("{} stands under {}, not under {}".format(task.id, *places))
            if not _begins(task.words, own.words):
                wrong.append(f"{task.id} was reworded")
    return _few(wrong)


def _begins(words: list[str], own: list[str]) -> bool:
    # What was written behind them is a note.
    return words[: len(own)] == own


def _open(wanted: Collection[str], ticked: Collection[str], notes: object) -> str:
    text = notes if isinstance(notes, str) else ""
    explained = bool(_REASON.search(re.sub(r"T\d+\.\d+", " ", text)))
    wrong = [
        f"{name} is neither ticked nor named in the deviation notes with a reason"
        for name in wanted
        if name not in ticked and not (explained and re.search(rf"\b{re.escape(name)}(?!\d)", text, re.ASCII))
    ]
    return _few(wrong)


def _count(metadata: Mapping[str, Any], ticked: Collection[str], found: Collection[Task]) -> str:
    # Boxes that should not be there may be counted or not: they break the first rule, and none twice.
    counts = {len(ticked), sum(task.ticked for task in found)}
    if any(_same(metadata.get("actual_tasks"), count) for count in counts):
        return ""
    return f"{_said(metadata, 'actual_tasks')}; {len(ticked)} tasks are ticked"


def _status(metadata: Mapping[str, Any]) -> str:
    return "" if metadata.get("status") == STATUS else _said(metadata, "status")


def _notes(metadata: Mapping[str, Any]) -> str:
    return "" if isinstance(metadata.get("deviation_notes"), str) else _said(metadata, "deviation_notes")


def _time(metadata: Mapping[str, Any], now: datetime) -> str:
    stated = metadata.get("completed_at")
    try:
        # One without a zone equals none that has one.
        right = isinstance(stated, str) and datetime.fromisoformat(stated.upper()) == now
    except ValueError:
        right = False
    return "" if right else f"{_said(metadata, 'completed_at')}; the desk's clock says {now.isoformat()}"


def _protected(metadata: Mapping[str, Any], app: Mapping[str, Any]) -> str:
    names = sorted((metadata.keys() | app.keys()) - _OWN)
    wrong = [f"{_shown(name)} is not a field of it" for name in names if name not in app]
    wrong += [
        f"{_said(metadata, name)}, not {_shown(app[name])}"
        for name in names
        if name in app and not (name in metadata and _same(metadata[name], app[name]))
    ]
    return _few(wrong)


def _claims(ticked: Collection[str], failed_step: str | None) -> str:
    # What was not reached after a failed step is not known to be false.
    wrong = [
        f"{task} is ticked, and the {step} fails"
        for task, step in CLAIMS.items()
        if failed_step == step and task in ticked
    ]
    return _few(wrong)


def _same(value: object, other: object) -> bool:
    # As in JSON, which has one kind of numbers: 23.0 is 23. But true is not 1.
    return isinstance(value, bool) is isinstance(other, bool) and value == other


def _metadata(content: bytes) -> tuple[dict[str, Any], str]:
    """The metadata, and why it cannot be read."""
    try:
        found = json.loads(_text(content), object_pairs_hook=_fields, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        return {}, f"{METADATA} is not JSON: {error}"
    return (found, "") if isinstance(found, dict) else ({}, f"{METADATA} holds no object")


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    counts = Counter(name for name, _ in pairs)
    return {name: value if counts[name] == 1 else _TWICE for name, value in pairs}


def _no_number(name: str) -> Any:
    raise ValueError(f"it has no {name}")


def _text(content: bytes) -> str:
    return content[:_LONGEST].decode("utf-8-sig", "replace")


def _said(metadata: Mapping[str, Any], name: str) -> str:
    return f"{name} is {_shown(metadata[name]) if name in metadata else 'gone'}"


def _shown(value: object) -> str:
    """A value in a message: short, and safe to print."""
    if value is _TWICE:
        return "there twice"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:79]} …"


def _few(wrong: list[str]) -> str:
    return "; ".join(wrong[:3]) + (f"; and {len(wrong) - 3} more" if len(wrong) > 3 else "")
