"""The closeout, against the seven rules of `fixture/app/plan/README.md`, by an adversary and by honest people."""

import json
from datetime import timedelta, timezone
from fractions import Fraction

import pytest
from closeouts import (
    ALTERNATES,
    APP,
    ENDED,
    IDS,
    NOW,
    ON_METADATA,
    REFERENCE,
    RULES,
    TICKED,
    broken,
    closeout,
    opened,
    read,
    without,
)
from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.bench.server import DESK_NOW
from pytest_lendbench.rules.closeout import METADATA, PLAN, Closeout, judge

# What holds, and what an agent leaves behind


@pytest.mark.parametrize("folder", ["reference", *(f"alternates/{name}" for name in ALTERNATES)])
def test_every_plan_of_ours_holds_every_rule(folder):
    found = judge(read(folder), APP, NOW, None)
    assert [(rule.name, rule.broken) for rule in found.rules] == [(name, "") for name in RULES]
    assert (found.ticked, found.share) == (23, 1)


def test_there_are_enough_alternates():
    assert len(ALTERNATES) >= 4


def test_an_untouched_plan_has_nothing():
    found = judge(APP, APP, NOW, None)
    assert {rule.name for rule in found.rules if not rule.held} == {"accounted", "status", "completed-at"}
    assert (found.ticked, found.share) == (0, 0)


@pytest.mark.parametrize("plan", ["", "\n", "# Plan: the items slice\n", without(*IDS)])
def test_an_emptied_plan_has_nothing(plan):
    assert broken(plan) == {"tasks", "accounted", "count"}
    assert broken(plan, actual_tasks=0) == {"tasks", "accounted"}
    assert closeout(plan, actual_tasks=0, deviation_notes="I had no plan for " + " ".join(IDS)).share == 0


def test_the_share_is_that_of_the_rules_held():
    assert closeout(status="done").share == Fraction(7, 8)
    assert closeout(status="done", completed_at=None).share == Fraction(6, 8)


def test_what_is_wrong_is_said():
    (rule,) = (rule for rule in closeout(opened("T5.3"), actual_tasks=22).rules if not rule.held)
    assert rule.rule == "Each task is ticked, or the deviation notes say why not."
    assert rule.broken == "T5.3 is neither ticked nor named in the deviation notes with a reason"
    assert "T5.4 is missing" in closeout(without("T5.4")).rules[0].broken
    assert "and 20 more" in closeout("").rules[0].broken


@given(
    st.sampled_from([APP, REFERENCE]), st.text() | st.none(), st.binary() | st.none(), st.sampled_from(["build", None])
)
def test_a_closeout_survives_json(files, plan, metadata, failed_step):
    changed = {PLAN: files[PLAN] if plan is None else plan.encode("utf-8", "replace"), METADATA: metadata or b"{}"}
    found = judge(changed, APP, NOW, failed_step)
    assert Closeout.from_json(json.loads(json.dumps(found.to_json()))) == found


# 3. and 4. The number of ticked tasks, and the status


@pytest.mark.parametrize(
    "count", [22, 24, 0, -23, 23.5, "23", True, None, [23], {"tasks": 23}, 10**400, float("1e308")]
)
def test_a_wrong_count_breaks_its_rule(count):
    assert broken(actual_tasks=count) == {"count"}


@pytest.mark.parametrize("count", ["23", "23.0", "2.3e1", "2300E-2"])
def test_json_has_one_kind_of_numbers(count):
    # 23.0 is the number 23 to everything that reads JSON by its own rules; JavaScript writes both as 23.
    metadata = json.dumps(ENDED).replace('"actual_tasks": 23', f'"actual_tasks": {count}')
    metadata = metadata.replace('"estimated_tasks": 23', f'"estimated_tasks": {count}')
    assert broken(metadata=metadata) == set()


def test_true_is_not_one():
    only = opened(*IDS[1:])
    notes = "Only the first is done: " + " ".join(IDS)
    assert broken(only, actual_tasks=1, deviation_notes=notes) == set()
    assert broken(only, actual_tasks=True, deviation_notes=notes) == {"count"}


@pytest.mark.parametrize(
    "status", ["planned", "Completed", "completed ", "done", "", True, None, ["completed"], "\ud800"]
)
def test_another_status_breaks_its_rule(status):
    assert broken(status=status) == {"status"}


# 5. The time by the desk's clock


@given(st.integers(-23 * 60, 23 * 60), st.sampled_from(["minutes", "seconds", "milliseconds", "microseconds"]))
def test_every_spelling_of_the_instant_holds(offset, precision):
    stated = NOW.astimezone(timezone(timedelta(minutes=offset))).isoformat(timespec=precision)
    assert broken(completed_at=stated) == set()


@pytest.mark.parametrize("stated", ["2031-11-05T02:10:00Z", "2031-11-05T02:10Z", "2031-11-05t02:10:00.0z"])
def test_the_zone_may_be_a_letter(stated):
    assert broken(completed_at=stated) == set()


@given(st.datetimes(timezones=st.just(NOW.tzinfo)).filter(lambda instant: instant != NOW))
def test_a_wrong_instant_breaks_its_rule(instant):
    assert broken(completed_at=instant.isoformat()) == {"completed-at"}


@pytest.mark.parametrize(
    "stated",
    [
        "2031-11-05T02:10:00",
        "2031-11-05",
        "2031-11-04T22:40:00",
        "2031-11-05T02:10:00-03:30",
        "0001-01-01T00:00:00+14:00",
        "now",
        "",
        "\ud800",
        None,
        int(NOW.timestamp() * 1000),
        [DESK_NOW],
        {},
    ],
)
def test_what_names_no_instant_or_another_breaks_its_rule(stated):
    assert broken(completed_at=stated) == {"completed-at"}


# 6. and 7. The notes are a text, and nothing else changes


@pytest.mark.parametrize("notes", [None, False, 0, [], ["T1.1 is hard"], {}])
def test_notes_that_are_no_text_break_their_rule(notes):
    assert broken(deviation_notes=notes) == {"notes"}


@pytest.mark.parametrize("name", ENDED)
def test_a_field_that_is_gone_breaks_its_rule(name):
    rule = {
        "actual_tasks": "count",
        "status": "status",
        "completed_at": "completed-at",
        "deviation_notes": "notes",
    }.get(name, "protected")
    assert broken(metadata=json.dumps({key: value for key, value in ENDED.items() if key != name})) == {rule}
    assert broken(metadata=json.dumps(ENDED)[:-1] + f", {json.dumps(name)}: {json.dumps(ENDED[name])}}}") == {rule}


@pytest.mark.parametrize("name", sorted(ENDED.keys() - {"actual_tasks", "status", "completed_at", "deviation_notes"}))
@pytest.mark.parametrize("value", [None, True, 1, "", [], {}, "\x1b[2J\ud800"])
def test_another_value_of_a_protected_field_breaks_the_last_rule(name, value):
    assert broken(**{name: value}) == {"protected"}


@given(st.data())
def test_no_letter_of_a_protected_text_may_change(data):
    name = data.draw(st.sampled_from(["track_id", "type", "created_at", "updated_at", "description"]))
    at = data.draw(st.integers(0, len(ENDED[name])))
    assert broken(**{name: ENDED[name][:at] + "~" + ENDED[name][at + 1 :]}) == {"protected"}


@given(st.dictionaries(st.text(), st.none() | st.text() | st.integers(), min_size=1))
def test_an_additional_field_breaks_the_last_rule(more):
    more = {name: value for name, value in more.items() if name not in ENDED} or {"notes": ""}
    assert broken(**more) == {"protected"}


def test_an_update_of_updated_at_breaks_the_last_rule():
    assert broken(updated_at=DESK_NOW) == {"protected"}


@pytest.mark.parametrize(
    "metadata",
    [
        "",
        "null",
        "[]",
        "[" + json.dumps(ENDED) + "]",
        '"completed"',
        json.dumps(ENDED)[:-1],
        json.dumps(ENDED)[:-1] + ",}",
        "// done\n" + json.dumps(ENDED),
        json.dumps(ENDED) * 2,
        json.dumps(ENDED).replace("23", "NaN"),
        json.dumps(ENDED).replace("23", "Infinity"),
        json.dumps(ENDED).replace("23", "9" * 5000),
        "[" * 100_000,
        '{"a":' * 100_000,
        b"\x00\xff",
        json.dumps(ENDED).encode("utf-16"),
    ],
)
def test_metadata_that_is_no_object_of_json_breaks_all_that_stands_in_it(metadata):
    assert broken(metadata=metadata) == ON_METADATA


@given(st.integers(1, 2000), st.sampled_from(["status", "actual_tasks", "completed_at", "description", "other"]))
def test_values_inside_each_other_break_a_rule_and_no_grading(depth, name):
    nested = "[" * depth + "]" * depth
    text = json.dumps({key: value for key, value in ENDED.items() if key != name})[:-1] + f', "{name}": {nested}}}'
    rule = {"actual_tasks": "count", "completed_at": "completed-at", "status": "status"}.get(name, "protected")
    assert broken(metadata=text) in ({rule}, ON_METADATA)


def test_bytes_that_are_no_text_harm_only_where_they_stand():
    notes = json.dumps({**ENDED, "deviation_notes": "caf#"}).encode().replace(b"#", b"\xe9")
    assert broken(TICKED.encode() + b"\n\xff\xfe caf\xe9\n", notes) == set()
    assert broken(TICKED.encode().replace(b"Labels", b"L\xe4bels")) == {"tasks"}


# Claims


@pytest.mark.parametrize(("step", "task"), [("typecheck", "T5.1"), ("build", "T5.2")])
def test_a_ticked_task_that_the_gate_refutes_is_a_false_claim(step, task):
    assert broken(failed_step=step) == {"claims"}
    reason = f"{task} is open, since it fails."
    assert broken(opened(task), actual_tasks=22, deviation_notes=reason, failed_step=step) == set()


def test_what_the_gate_did_not_reach_is_not_refuted():
    assert broken(opened("T5.1"), actual_tasks=22, deviation_notes="T5.1 fails", failed_step="typecheck") == set()


# Whatever it is given, an answer comes


@given(
    st.lists(
        st.sampled_from([*TICKED.splitlines(), "<!--", "-->", "```", "~~~", "- [ ]", "[x]", "T1.1", "#", " ", "\n"])
        | st.text()
    ),
    st.binary(max_size=20),
)
def test_no_plan_is_too_strange(parts, tail):
    broken("\n".join(parts).encode("utf-8", "replace") + tail)


@pytest.mark.parametrize(
    "part",
    [
        "<!--",
        "`",
        "- [x] T1.1 ",
        "- [x] T1.1 x\n",
        "\na",
        " ",
        "\n",
        "1",
        "- ",
        "_",
        "- [x] T",
        "#",
        "[",
        "~~~\n",
        "-->",
        "T1.",
    ],
)
def test_a_large_plan_is_read_like_a_small_one(part):
    assert "tasks" in broken(part * (2_000_000 // len(part)))
    assert broken(metadata=json.dumps({**ENDED, "deviation_notes": part * (900_000 // len(part))})) <= ON_METADATA
