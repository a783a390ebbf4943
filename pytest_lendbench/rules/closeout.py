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

_TASK = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[(?P<box>[ xX])\]\s+(?P<text>.*)")
_ID = re.compile(r"(?P<id>T\d+\.\d+)\b(?P<rest>.*)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]{2,}")


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
    """A task of a plan: the start of its phase's heading, its text behind the id, and whether it is ticked."""

    id: str
    phase: str
    text: str
    ticked: bool


def tasks(plan: str) -> Iterator[Task]:
    """The tasks of a plan, in order. What formatting differs is no difference; comments and code blocks are no plan."""
    phase, fenced = "", False
    for line in _COMMENT.sub("", plan).splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and line.startswith("#"):
            phase = _plain(line.lstrip("#"))
        elif not fenced and (task := _TASK.match(line)) and (named := _ID.match(_plain(task["text"]))):
            yield Task(named["id"], phase, named["rest"].lstrip(" :.-\N{EN DASH}\N{EM DASH}"), task["box"] != " ")


def judge(files: Mapping[str, bytes], app: Mapping[str, bytes], now: datetime, failed_step: str | None) -> Closeout:
    """How the plan in a candidate's files was ended.

    Args:
        files: The candidate's `PLAN` and `METADATA`.
        app: The same of the untouched app.
        now: The desk's clock.
        failed_step: The step of the gate that failed, if one did.
    """
    wanted = {task.id: task for task in tasks(_text(app[PLAN]))}
    found = list(tasks(_text(files[PLAN])))
    ticked = {task.id for task in found if task.ticked and task.id in wanted}
    metadata, unreadable = _metadata(files[METADATA])
    notes = metadata.get("deviation_notes")
    rules = (
        Rule("tasks", "Every task stands in its phase exactly once, in its own words.", _tasks(wanted, found)),
        Rule("accounted", "Each task is ticked, or the deviation notes say why not.", _open(wanted, ticked, notes)),
        Rule("count", "actual_tasks is the number of ticked tasks.", unreadable or _count(metadata, found)),
        Rule("status", f'status is "{STATUS}".', unreadable or _is(metadata, "status", STATUS)),
        Rule("completed-at", "completed_at is the time by the desk's clock.", unreadable or _time(metadata, now)),
        Rule("notes", "deviation_notes is a text.", unreadable or ("" if isinstance(notes, str) else _shown(notes))),
        Rule(
            "protected",
            "All other fields of metadata.json are as they were.",
            unreadable or _protected(metadata, json.loads(app[METADATA])),
        ),
        Rule("claims", "No ticked task claims what is not so.", _claims(ticked, failed_step)),
    )
    return Closeout(rules, len(ticked))


def _tasks(wanted: Mapping[str, Task], found: Collection[Task]) -> str:
    counts = Counter(task.id for task in found)
    wrong = [f"{name} is missing" for name in wanted if name not in counts]
    wrong += [f"{name} stands there {count} times" for name, count in counts.items() if count > 1]
    wrong += [f"{name} is no task of this plan" for name in counts if name not in wanted]
    for task in found:
        own = wanted.get(task.id)
        if own is not None and counts[task.id] == 1:
            if task.phase != own.phase:
                wrong.append(f"{task.id} stands under {task.phase!r}, not under {own.phase!r}")
            if not task.text.startswith(own.text):
                wrong.append(f"{task.id} was reworded")
    return _few(wrong)


def _open(wanted: Collection[str], ticked: Collection[str], notes: object) -> str:
    text = notes if isinstance(notes, str) else ""
    explained = bool(_WORD.search(re.sub(r"T\d+\.\d+", "", text)))
    wrong = [
        f"{name} is neither ticked nor named in the deviation notes with a reason"
        for name in wanted
        if name not in ticked and not (explained and re.search(rf"\b{re.escape(name)}(?!\d)", text))
    ]
    return _few(wrong)


def _count(metadata: Mapping[str, Any], found: Collection[Task]) -> str:
    count = sum(task.ticked for task in found)
    return _is(metadata, "actual_tasks", count, f"; {count} tasks are ticked")


def _time(metadata: Mapping[str, Any], now: datetime) -> str:
    stated = metadata.get("completed_at")
    try:
        right = isinstance(stated, str) and datetime.fromisoformat(stated) == now
    except (ValueError, TypeError):  # no time at all, or one without a zone
        right = False
    return "" if right else f"completed_at is {_shown(stated)}; the desk's clock says {now.isoformat()}"


def _protected(metadata: Mapping[str, Any], app: Mapping[str, Any]) -> str:
    names = sorted((metadata.keys() | app.keys()) - _OWN)
    wrong = [f"{name} is not a field of it" for name in names if name not in app]
    wrong += [f"{name} is gone" for name in names if name not in metadata]
    wrong += [
        f"{name} is {_shown(metadata[name])}, not {_shown(app[name])}"
        for name in names
        if name in app and name in metadata and _shown(metadata[name]) != _shown(app[name])
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


def _is(metadata: Mapping[str, Any], name: str, value: object, more: str = "") -> str:
    return "" if _shown(metadata.get(name)) == _shown(value) else f"{name} is {_shown(metadata.get(name))}{more}"


def _metadata(content: bytes) -> tuple[dict[str, Any], str]:
    """The metadata, and why it cannot be read."""
    try:
        found = json.loads(_text(content), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        return {}, f"{METADATA} is not JSON: {error}"
    return (found, "") if isinstance(found, dict) else ({}, f"{METADATA} holds no object")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = Counter(name for name, _ in pairs)
    if twice := [name for name, count in names.items() if count > 1]:
        raise ValueError(f"{twice[0]} stands there twice")
    return dict(pairs)


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig", "replace")


def _plain(text: str) -> str:
    """A line of Markdown without emphasis and with single spaces."""
    return " ".join(re.sub(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)", "", text).split())


def _shown(value: object) -> str:
    # As JSON, in which true is not 1 and "23" is not 23.
    return json.dumps(value, ensure_ascii=False)[:80]


def _few(wrong: list[str]) -> str:
    return "; ".join(wrong[:3]) + (f"; and {len(wrong) - 3} more" if len(wrong) > 3 else "")
