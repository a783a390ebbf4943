"""The closeout, against the seven rules of `fixture/app/plan/README.md`, by an adversary and by honest people."""

import json
import re
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.bench.server import DESK_NOW
from pytest_lendbench.rules.closeout import METADATA, PLAN, Closeout, judge, tasks

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


# 1. Every task id stands in the plan exactly once, in its phase, and no other task does; nothing is reworded


@pytest.mark.parametrize("gone", [["T5.4"], ["T1.1", "T2.6", "T3.3"], IDS[:10]])
def test_deleted_tasks_that_are_accounted_for_break_the_first_rule_only(gone):
    notes = f"Not done, since the time was up: {', '.join(gone)}"
    assert broken(without(*gone), actual_tasks=23 - len(gone), deviation_notes=notes) == {"tasks"}


def test_deleted_tasks_that_are_not_accounted_for_break_the_second_rule_too():
    assert broken(without("T5.4"), actual_tasks=22) == {"tasks", "accounted"}


@pytest.mark.parametrize("counted", [23, 24])
@pytest.mark.parametrize(
    "added",
    [
        of_task("T5.4"),
        of_task("T1.1"),
        "- [x] T5.5 A task of my own",
        "- [x] T6.1 A task of my own",
        "- [x] T5.10 A task of my own",
        "- [x] T5.4.1 A task below a task",
        "- [x] T5.4a Half a task",
        "- [x] A task without an id",
        "  - [x] A task below a task",
        "- [x] t5.4 Both flows",
    ],
)
def test_a_ticked_task_too_many_breaks_the_first_rule_however_it_is_counted(added, counted):
    assert broken(f"{TICKED}{added}\n", actual_tasks=counted) == {"tasks"}


def test_an_unticked_task_too_many_is_one_too():
    assert broken(f"{TICKED}- [ ] T6.1 For another day\n") == {"tasks"}


@pytest.mark.parametrize("counted", [0, 22, 25])
def test_a_wrong_count_of_a_plan_with_a_task_too_many_breaks_both(counted):
    assert broken(f"{TICKED}{of_task('T1.1')}\n", actual_tasks=counted) == {"tasks", "count"}


@pytest.mark.parametrize("before", ["## Phase 2: Pages", "## Phase 5: Verification", "# Plan", "## Done"])
def test_a_task_in_another_phase_breaks_the_first_rule(before):
    line = of_task("T1.1")
    moved = TICKED.replace(f"{line}\n", "")
    at = moved.find(before)
    moved = f"{moved}\n{before}\n\n{line}\n" if at < 0 else moved[:at] + f"{before}\n\n{line}\n\n" + moved[at:]
    assert broken(moved) == {"tasks"}


def test_tasks_under_no_heading_are_in_no_phase():
    assert broken("\n".join(line for line in TICKED.splitlines() if not line.startswith("#"))) == {"tasks"}


@given(st.permutations(IDS[:4]))
def test_the_order_within_a_phase_is_free(order):
    lines = {name: of_task(name) for name in IDS[:4]}
    plan = TICKED
    for name in IDS[:4]:
        plan = plan.replace(f"{lines[name]}\n", f"<{name}>\n")
    for old, new in zip(IDS[:4], order, strict=True):
        plan = plan.replace(f"<{old}>", lines[new])
    assert broken(plan) == set()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("T1.2 Labels and due texts", "T1.2 Labels"),
        ("T1.2 Labels and due texts (A.7, A.8)", "T1.2"),
        ("T1.2 Labels", "T1.2 All labels"),
        ("passes\n- [x] T5.4", "passed\n- [x] T5.4"),
        ("T5.2 `npm run build` passes", "T5.2 `npm run build` passesnot"),
        ("(B)", "(C)"),
        ("F.12, F.14", "F.12"),
    ],
)
def test_a_reworded_task_breaks_the_first_rule(old, new):
    assert old in TICKED
    assert broken(TICKED.replace(old, new)) == {"tasks"}


@pytest.mark.parametrize(
    "note", [" ✅", " (done)", ": see `src/items`", " **was hard**", "\n  Was hard.\n", "\n  - a note"]
)
@pytest.mark.parametrize("name", IDS)
def test_a_note_behind_a_task_is_no_rewording(name, note):
    assert broken(TICKED.replace(of_task(name), of_task(name) + note)) == set()


def test_prose_may_name_the_tasks():
    prose = "\n## Notes\n\nT1.1 took longest.\n\n- T1.2 and T1.3 were easy.\n- [a link](https://example.org)\n"
    assert broken(TICKED + prose) == set()


@pytest.mark.parametrize("heading", ["## Phase 1: Rules ✅", "## ✅ Phase 1: Rules (4/4)", "## Phase 1: Rules ##"])
def test_a_note_at_a_heading_moves_no_task(heading):
    assert broken(TICKED.replace("## Phase 1: Rules", heading)) == set()


def test_a_smaller_heading_is_inside_its_phase():
    assert broken(TICKED.replace("- [x] T1.3", "### Filters\n\n- [x] T1.3")) == set()


@pytest.mark.parametrize("box", ["[-]", "[~]", "[]", "[✓]"])
def test_a_task_with_another_mark_stands_there_unticked(box):
    plan = TICKED.replace("[x] T5.4", f"{box} T5.4")
    assert broken(plan, actual_tasks=22, deviation_notes="T5.4: there is no browser here") == set()
    assert broken(plan, actual_tasks=22) == {"accounted"}


# Formatting

EMPHASIS = ["", "*", "**", "***", "_", "__", "`", "~~"]


@st.composite
def formatted(draw):
    """The ticked plan in another hand."""
    lines = []
    for line in TICKED.splitlines():
        trailing = draw(st.sampled_from(["", " ", "  ", "\t", " \\"]))
        if task := re.fullmatch(r"- \[x\] (T\d\.\d) (.*)", line):
            mark, (name, text) = draw(st.sampled_from(EMPHASIS)), task.groups()
            whole = draw(st.booleans()) and "`" not in mark + text
            after = draw(st.sampled_from([":", " -", ".", " \N{EN DASH}", ""]))
            body = f"{mark}{name} {text}{mark}" if whole else f"{mark}{name}{mark}{after} {text}"
            if draw(st.booleans()):
                at = draw(st.sampled_from([found.start() for found in re.finditer(r" (?=\w)", body)][1:]))
                body = f"{body[:at]}\n{draw(st.sampled_from(['', '  ', '      ']))}{body[at + 1 :]}"
            indent, bullet = draw(st.sampled_from(["", " ", "  ", "    ", "\t"])), draw(st.sampled_from("-*+"))
            box, gap = draw(st.sampled_from("xX")), draw(st.sampled_from([" ", "  "]))
            lines.append(f"{indent}{bullet} [{box}]{gap}{body}{trailing}")
        elif line.startswith("##"):
            mark = draw(st.sampled_from(EMPHASIS))
            lines.append(f"{draw(st.sampled_from(['##', '###']))} {mark}{line[3:]}{mark}{trailing}")
        else:
            lines.append(line + trailing)
        lines.extend([""] * draw(st.integers(0, 2)))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig"])))


@st.composite
def metadata_formatted(draw):
    fields = dict(draw(st.permutations(list(ENDED.items()))))
    indent = draw(st.sampled_from([None, 0, 2, 4, "\t"]))
    text = json.dumps(fields, indent=indent, ensure_ascii=draw(st.booleans()))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))) + draw(st.sampled_from(["", "\n", " \n\n"]))
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig"])))


@given(formatted(), metadata_formatted())
def test_formatting_breaks_nothing(plan, metadata):
    assert broken(plan, metadata) == set()


@given(formatted())
def test_formatting_hides_nothing(plan):
    found = tasks(plan.decode("utf-8-sig"))
    assert sorted(task.id for task in found) == IDS
    assert all(task.ticked for task in found)


# Comments and blocks of code are no plan


@pytest.mark.parametrize(
    "hidden",
    [
        "<!--\n{}\n-->",
        "<!-- {} -->",
        "```\n{}\n```",
        "~~~md\n{}\n~~~",
        "````\n```\n{}\n```\n````",
        "```\n~~~\n{}\n~~~\n```",
        "- Like this:\n  ```\n  {}\n  ```",
        "- ```md\n  {}\n  ```",
        "```\n<!--\n{}\n```",
        "<!--\n```\n{}\n-->",
    ],
)
def test_what_is_hidden_is_no_task_and_what_follows_it_is_one(hidden):
    line = of_task("T1.1")
    assert broken(hidden.format("- [x] T9.9 Not there") + "\n\n" + TICKED) == set()
    assert broken(TICKED.replace("## Phase 3", hidden.format("## Phase 9") + "\n\n## Phase 3")) == set()
    assert broken(TICKED.replace(line, hidden.format(line)), actual_tasks=22) == {"tasks", "accounted"}


@pytest.mark.parametrize(
    "note",
    [
        "<!-- a note -->",
        "`<!--` is escaped",
        "<!-- never ended",
        "```not a block```",
        "``` `a` ```",
        "a --> b",
        "~~gone~~",
    ],
)
def test_a_note_hides_no_task(note):
    assert broken(TICKED.replace("(A.7, A.8)", f"(A.7, A.8) {note}")) == set()
    assert broken(TICKED.replace("## Phase 2", f"Note: {note}\n\n## Phase 2")) == set()


def test_a_comment_inside_a_task_is_no_word_of_it():
    assert broken(TICKED.replace("T1.2 Labels", "T1.2 <!-- mine --> Labels")) == set()


def test_a_comment_or_block_that_is_never_ended_hides_the_rest():
    assert broken("<!--\n" + TICKED) == broken("```\n" + TICKED) == {"tasks", "accounted", "count"}


# 2. Each task is ticked, or the deviation notes say why not


@pytest.mark.parametrize(
    "notes",
    [
        "T5.3: there is no test in this app. T5.4: no browser.",
        "No browser and no tests here, so T5.3 and T5.4 are open.",
        "(T5.3, T5.4) blocked",
        "**T5.3**/**T5.4**: ausgelassen, weil hier kein Browser ist",
        "任务T5.3和T5.4没有完成,因为没有浏览器",
        "- T5.3\n- T5.4\n\nOut of time.",
    ],
)
def test_a_note_with_a_reason_accounts_for_an_open_task(notes):
    assert broken(opened("T5.3", "T5.4"), actual_tasks=21, deviation_notes=notes) == set()


@pytest.mark.parametrize(
    "notes",
    [
        "",
        "T5.3, T5.4",
        "T5.3 and T5.4",
        "T5.3 & T5.4.",
        "T5.3 to T5.4",
        "Some tasks were left out for lack of time.",
        "T5.3: no tests here",
        "T5.30 and T5.40 were left out",
        "T5.4 was left out for lack of time, and so was t5.3",
    ],
)
def test_a_note_without_an_id_or_a_reason_does_not(notes):
    assert broken(opened("T5.3", "T5.4"), actual_tasks=21, deviation_notes=notes) == {"accounted"}


def test_a_note_on_a_ticked_task_is_welcome():
    assert broken(deviation_notes="T1.1") == set()


@given(st.sets(st.sampled_from(IDS), min_size=1, max_size=22), st.sets(st.sampled_from(IDS)))
def test_exactly_the_open_tasks_must_be_named(left_open, named):
    notes = "Out of time: " + " ".join(sorted(named))
    found = broken(opened(*left_open), actual_tasks=23 - len(left_open), deviation_notes=notes)
    assert found == (set() if left_open <= named else {"accounted"})


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
