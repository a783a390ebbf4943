"""A. Status rules: `src/items/status.ts`, called directly."""

import pytest

pytestmark = [pytest.mark.domain(name="A"), pytest.mark.weight(points=0.25)]

STATUS = "src/items/status.ts"
IN_SERVICE = {"inMaintenance": False}
IN_MAINTENANCE = {"inMaintenance": True}


def status(unit, item, due_on, at):
    loan = None if due_on is None else {"dueOn": due_on}
    return unit.call(STATUS, "itemStatus", [item, loan, {"$date": at}])


def due_text(unit, due_on, at, zone=None):
    """`zone`: the time zone that the process is in; it must not matter."""
    return unit.call(STATUS, "dueText", [due_on, {"$date": at}], env={"TZ": zone} if zone else None)


@pytest.mark.check(id="A.due-today", tier=0, spec="A.1, A.2, A.3")
def test_an_item_is_on_loan_until_its_due_day_and_due_for_the_whole_of_it(unit, at_desk):
    assert status(unit, IN_SERVICE, "2031-11-12", at_desk("2031-11-04 22:40")) == "on-loan"
    assert status(unit, IN_SERVICE, "2031-11-12", at_desk("2031-11-11 23:59:59.999")) == "on-loan"
    for moment in ("2031-11-04 00:00", "2031-11-04 12:00", "2031-11-04 20:29:59.999", "2031-11-04 23:59:59.999"):
        assert status(unit, IN_SERVICE, "2031-11-04", at_desk(moment)) == "due-today", f"at the desk it is {moment}"


@pytest.mark.check(id="A.overdue", tier=0, spec="A.4")
def test_an_item_is_overdue_from_the_first_millisecond_of_the_next_day(unit, at_desk):
    assert status(unit, IN_SERVICE, "2031-11-04", at_desk("2031-11-05 00:00")) == "overdue"
    assert status(unit, IN_SERVICE, "2031-12-31", at_desk("2032-01-01 00:00")) == "overdue"
    assert status(unit, IN_SERVICE, "2031-12-31", at_desk("2031-12-31 23:59:59.999")) == "due-today"


@pytest.mark.check(id="A.clock-change", tier=0, spec="A.4")
def test_days_of_23_and_25_hours_end_at_the_desks_midnight(unit, at_desk):
    for day, after in (("2031-11-02", "2031-11-03"), ("2032-03-14", "2032-03-15")):
        assert status(unit, IN_SERVICE, day, at_desk(f"{day} 00:00")) == "due-today"
        assert status(unit, IN_SERVICE, day, at_desk(f"{day} 23:59:59.999")) == "due-today"
        assert status(unit, IN_SERVICE, day, at_desk(f"{after} 00:00")) == "overdue"


@pytest.mark.check(id="A.maintenance", tier=0, spec="A.6")
def test_without_a_loan_an_item_is_in_maintenance_or_available(unit, at_desk):
    at = at_desk("2031-11-04 22:40")
    assert status(unit, IN_MAINTENANCE, None, at) == "maintenance"
    assert status(unit, IN_SERVICE, None, at) == "available"


@pytest.mark.check(id="A.loan-over-maintenance", tier=0, spec="A.5")
def test_an_open_loan_says_more_than_maintenance(unit, at_desk):
    at = at_desk("2031-11-04 22:40")
    assert status(unit, IN_MAINTENANCE, "2031-11-05", at) == "on-loan"
    assert status(unit, IN_MAINTENANCE, "2031-11-04", at) == "due-today"
    assert status(unit, IN_MAINTENANCE, "2031-11-03", at) == "overdue"


@pytest.mark.check(id="A.labels", tier=0, spec="A.7")
def test_each_status_has_its_label(unit):
    labels = {
        "available": "Available",
        "on-loan": "On loan",
        "due-today": "Due today",
        "overdue": "Overdue",
        "maintenance": "In maintenance",
    }
    assert {key: unit.call(STATUS, "statusLabel", [key]) for key in labels} == labels


@pytest.mark.check(id="A.due-text", tier=0, spec="A.8")
def test_the_due_text_says_the_day_or_how_late_it_is(unit, at_desk):
    at = at_desk("2031-11-04 22:40")
    texts = {due_on: due_text(unit, due_on, at) for due_on in ("2031-11-12", "2031-11-04", "2031-11-03", "2031-10-25")}
    assert texts == {
        "2031-11-12": "Due 12 Nov 2031",
        "2031-11-04": "Due today",
        "2031-11-03": "1 day late",
        "2031-10-25": "10 days late",
    }


@pytest.mark.check(id="A.late-over-changes", tier=0, spec="A.8")
def test_days_late_are_calendar_days_over_clock_changes_and_years(unit, at_desk):
    assert due_text(unit, "2031-11-01", at_desk("2031-11-03 00:00")) == "2 days late"
    assert due_text(unit, "2032-03-13", at_desk("2032-03-15 00:00")) == "2 days late"
    assert due_text(unit, "2031-12-30", at_desk("2032-01-02 23:59:59.999")) == "3 days late"
    assert due_text(unit, "2032-02-28", at_desk("2032-03-01 12:00")) == "2 days late"
    assert due_text(unit, "2032-12-31", at_desk("2033-01-01 12:00")) == "1 day late", "2032 has 366 days"
    for zone in ("America/New_York", "Europe/Berlin", "Pacific/Auckland"):
        for due_on, moment in (("2032-03-12", "2032-03-30 12:00"), ("2031-09-27", "2031-10-15 12:00")):
            assert due_text(unit, due_on, at_desk(moment), zone) == "18 days late", f"in a process in {zone}"
