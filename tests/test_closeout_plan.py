"""The plan's text in a closeout: its tasks, their marks, and the notes on those that are open (rules 1 and 2)."""

import json
import re

import pytest
from closeouts import (
    ENDED,
    IDS,
    TICKED,
    broken,
    of_task,
    opened,
    without,
)
from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.rules.closeout import tasks

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
