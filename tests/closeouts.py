"""The plan of the reference, changed in one way or another, and how it is judged."""

import json
import re
from datetime import datetime
from pathlib import Path

from pytest_lendbench.bench.server import DESK_NOW
from pytest_lendbench.rules.closeout import METADATA, PLAN, judge

FIXTURE = Path(__file__).parent.parent / "fixture"
NOW = datetime.fromisoformat(DESK_NOW)
ALTERNATES = sorted(path.name for path in (FIXTURE / "alternates").iterdir() if path.is_dir())

RULES = ("tasks", "accounted", "count", "status", "completed-at", "notes", "protected", "claims")
ON_METADATA = {"count", "status", "completed-at", "notes", "protected"}


def read(folder):
    return {name: (FIXTURE / folder / name).read_bytes() for name in (PLAN, METADATA)}


APP, REFERENCE = read("app"), read("reference")
TICKED = REFERENCE[PLAN].decode()
ENDED = json.loads(REFERENCE[METADATA])
IDS = re.findall(r"T\d\.\d", TICKED)


def closeout(plan=TICKED, metadata=None, failed_step=None, **fields):
    """How a plan is judged: the reference's, with another text of the plan, of the metadata, or other fields."""
    text = json.dumps({**ENDED, **fields}) if metadata is None else metadata
    content = [part if isinstance(part, bytes) else part.encode() for part in (plan, text)]
    return judge(dict(zip((PLAN, METADATA), content, strict=True)), APP, NOW, failed_step)


def broken(*args, **fields):
    """The names of the rules that it breaks. Whatever is said of them can be stored and printed in one short line."""
    found = closeout(*args, **fields)
    for rule in found.rules:
        rule.broken.encode()
        assert rule.broken.isprintable()
        assert len(rule.broken) < 700
    return {rule.name for rule in found.rules if not rule.held}


def without(*names, plan=TICKED):
    return "".join(line for line in plan.splitlines(keepends=True) if not any(f" {name} " in line for name in names))


def opened(*names):
    return re.sub(rf"\[x\] ({'|'.join(map(re.escape, names))}) ", r"[ ] \1 ", TICKED)


def of_task(name):
    return next(line for line in TICKED.splitlines() if f" {name} " in line)
