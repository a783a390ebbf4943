"""What checks and probes have in common: scenes in the store, and the two forms as a person uses them."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Error as PlaywrightError

from pytest_lendbench.bench.document import Document
from pytest_lendbench.bench.store import a_loan, a_member, an_item

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator

    from pytest_lendbench.bench.desk import Desk
    from pytest_lendbench.bench.screen import Screen
    from pytest_lendbench.bench.store import Store

DESK_TIME_ZONE = ZoneInfo("America/St_Johns")


@pytest.fixture(scope="session")
def at_desk():
    """The instant at which the desk's clocks show a local time: `at_desk("2031-11-04 23:59:59.999")`."""

    def instant(local: str) -> str:
        at = datetime.fromisoformat(local).replace(tzinfo=DESK_TIME_ZONE).astimezone(ZoneInfo("UTC"))
        return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"

    return instant


class Visit(Protocol):
    def __call__(self, path: str, staff: str | None = None) -> Document: ...


@pytest.fixture
def visit(desk: Desk) -> Visit:
    """Visits a page over plain HTTP, without scripts, and returns what it says."""

    def read(path: str, staff: str | None = None) -> Document:
        answer = desk.get(path, staff=staff)
        assert answer.status == 200, f"GET {path} answered {answer.status}"
        return Document(answer.text)

    return read


@pytest.fixture
def scene(store: Store) -> None:
    """A small desk. There it is Tuesday, 4 November 2031, 22:40; the staff member is Imke.

    A drill that can be lent for 7 days, a tent on loan to Lars, a saw in maintenance; Ines may borrow, Juri is
    suspended, Lars (apprentice) is at his limit, Oda has a loan that was due yesterday.
    """
    store.seed(
        items=[
            an_item(id="it-drill", name="Drill", loanDays=7),
            an_item(id="it-tent", name="Tent", loanDays=14),
            an_item(id="it-saw", name="Jigsaw", inMaintenance=True),
            an_item(id="it-lamp", name="Lamp"),
        ],
        members=[
            a_member(id="mb-ines", name="Ines Abara", memberClass="maker"),
            a_member(id="mb-juri", name="Juri Tamm", status="suspended", suspensionReason="Unpaid fee."),
            a_member(id="mb-lars", name="Lars Bo", memberClass="apprentice"),
            a_member(id="mb-oda", name="Oda Dahl", memberClass="steward"),
        ],
        loans=[
            a_loan(
                id="ln-lamp",
                itemId="it-lamp",
                memberId="mb-oda",
                checkedOutAt="2031-10-27T15:00:00.000Z",
                dueOn="2031-11-03",
            ),
            a_loan(
                id="ln-tent",
                itemId="it-tent",
                memberId="mb-lars",
                checkedOutAt="2031-10-29T15:00:00.000Z",
                dueOn="2031-11-12",
            ),
        ],
    )


class CheckOutForm:
    """The check-out form, as a person finds it by its labels."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.member = screen.page.get_by_role("combobox", name="Member")
        self.due_day = screen.page.get_by_label("Due day")
        self.button: Locator = screen.page.get_by_role("button", name="Check out")
        self.busy_button = screen.page.get_by_role("button", name="Checking out…")

    def open(self, item: str = "it-drill") -> CheckOutForm:
        self.screen.open(f"/items/{item}")
        self.screen.expect(self.button).to_be_visible()
        return self

    def submit(self, member: str | None = None, due_day: str | None = None) -> None:
        """Fills what is given, in the words that the form shows, and presses the button."""
        if member is not None:
            self.screen.choose("Member", member)
        if due_day is not None:
            self.screen.fill(self.due_day, due_day)
        self.screen.click(self.button)


class ReturnForm:
    """The return form, as a person finds it by its labels."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.note = screen.page.get_by_label("Note")
        select = screen.page.get_by_role("combobox", name="Condition")
        self.condition = select.or_(screen.page.get_by_role("radio", checked=True))
        """Where the keyboard's focus comes to first in the choice."""
        self.button: Locator = screen.page.get_by_role("button", name="Return item")
        self.busy_button = screen.page.get_by_role("button", name="Returning…")

    def chosen(self, option: str) -> Locator:
        """What stands for an option of the choice "Condition" while that option is chosen: one thing, else nothing."""
        select = self.screen.page.get_by_role("combobox", name="Condition").locator("option:checked")
        return select.filter(has_text=option).or_(self.screen.page.get_by_role("radio", name=option, checked=True))

    def open(self, item: str = "it-tent") -> ReturnForm:
        self.screen.open(f"/items/{item}")
        self.screen.expect(self.button).to_be_visible()
        return self

    def submit(self, condition: str | None = None, note: str | None = None) -> None:
        """Fills what is given, in the words that the form shows, and presses the button."""
        if condition is not None:
            self.screen.choose("Condition", condition)
        if note is not None:
            self.screen.fill(self.note, note)
        self.screen.click(self.button)


_MARK = """targets => {
  for (const element of targets.flatMap(target => [...document.querySelectorAll(target)]))
    element.style.outline = "3px dashed magenta";
}"""
"""For the screenshot."""


def _told(violation: dict[str, Any]) -> str:
    """What axe says of the first place, and how many more there are."""
    first, *more = violation["nodes"]
    why = next((check["message"] for kind in ("any", "all", "none") for check in first[kind]), "")
    others = f" (and in {len(more)} more places)" if more else ""
    return f"{violation['id']} at {first['html'][:160]}: {violation['help']}. {why}{others}"


@pytest.fixture
def axe(axe_source: str) -> Callable[..., None]:
    """Runs axe-core on a page as it is now, and its rules on colours once more in dark; a finding fails the check.

    With `only`, one rule of axe is run instead, also one that axe leaves out by itself.
    """

    def run(screen: Screen, state: str, only: str | None = None) -> None:
        page = screen.page
        # In a scope of its own: what the page itself calls `axe` is not asked.
        engine = page.evaluate_handle(
            f"() => {{ const module = {{ exports: {{}} }};\n{axe_source}\nreturn module.exports; }}"
        )
        whole: list[tuple[Literal["light", "dark"], dict[str, list[str]]]]
        whole = [("light", {}), ("dark", {"runOnly": ["color-contrast"]})]
        for scheme, rules in whole if only is None else [("light", {"runOnly": [only]})]:
            page.emulate_media(color_scheme=scheme)
            screen.rest()
            options = {"resultTypes": ["violations"], **rules}
            found = engine.evaluate("(axe, options) => axe.run(options).then(results => results.violations)", options)
            problems = [_told(one) for one in found]
            if problems:
                with suppress(PlaywrightError):  # Only a help to the eye: the finding stands.
                    page.evaluate(_MARK, [node["target"][0] for one in found for node in one["nodes"]])
            assert not problems, f"axe finds in {state}, {scheme}: {'; '.join(problems)}"
        page.emulate_media(color_scheme="light")

    return run


class Forms:
    """The two forms in any browser: `forms.check_out(screen)`."""

    check_out = CheckOutForm
    give_back = ReturnForm


@pytest.fixture(scope="session")
def forms() -> type[Forms]:
    """The two forms, for checks that need them in more than one browser."""
    return Forms


@pytest.fixture
def check_out_form(staff: Screen) -> CheckOutForm:
    """The check-out form in the browser of a staff member."""
    return CheckOutForm(staff)


@pytest.fixture
def return_form(staff: Screen) -> ReturnForm:
    """The return form in the browser of a staff member."""
    return ReturnForm(staff)
