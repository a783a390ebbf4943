"""The rows of a store, and builders that give a check's rows everything the check doesn't care about."""

# The fields are named as the app names them: one vocabulary for rows, operations and the API's JSON.

from typing import Any, Literal, TypedDict, cast

CANARY = "lendbench-canary"
"""Stands in every private field of a built row and in every failure of the store. People must never see it."""

CANARY_CENTS = 918273645
"""The price that every built item has cost. People must never see it."""


class Item(TypedDict):
    id: str
    name: str
    category: str
    description: str
    shelf: str
    loanDays: int
    inMaintenance: bool
    serialNumber: str
    purchasePriceCents: int


class Member(TypedDict):
    id: str
    name: str
    email: str
    memberClass: Literal["apprentice", "maker", "steward"]
    status: Literal["active", "suspended"]
    suspensionReason: str | None
    joinedAt: str
    privateNote: str


class Loan(TypedDict):
    id: str
    itemId: str
    memberId: str
    checkedOutAt: str
    dueOn: str
    checkedOutBy: str
    returnedAt: str | None
    returnedBy: str | None
    condition: Literal["good", "damaged"] | None
    note: str | None


class Rows(TypedDict):
    items: list[Item]
    members: list[Member]
    loans: list[Loan]


def an_item(**changes: Any) -> Item:
    """An available item, `it-1` if not told otherwise.

    Raises:
        TypeError: An item has no such field.
    """
    item: Item = {
        "id": "it-1",
        "name": "Cordless drill",
        "category": "Woodwork",
        "description": "With two batteries and a charger.",
        "shelf": "W-01",
        "loanDays": 7,
        "inMaintenance": False,
        "serialNumber": f"{CANARY}-serial",
        "purchasePriceCents": CANARY_CENTS,
    }
    return cast("Item", _changed(cast("dict[str, Any]", item), changes))


def a_member(**changes: Any) -> Member:
    """An active maker (three loans at a time), `mb-1` if not told otherwise.

    Raises:
        TypeError: A member has no such field.
    """
    member: Member = {
        "id": "mb-1",
        "name": "Ottoline Varga",
        "email": "ottoline.varga@example.org",
        "memberClass": "maker",
        "status": "active",
        "suspensionReason": None,
        "joinedAt": "2029-02-03T15:00:00.000Z",
        "privateNote": f"{CANARY}-note",
    }
    return cast("Member", _changed(cast("dict[str, Any]", member), changes))


def a_loan(**changes: Any) -> Loan:
    """An open loan of `it-1` to `mb-1`, due four days after the graded servers' present; `ln-1` if not told otherwise.

    Raises:
        TypeError: A loan has no such field.
    """
    loan: Loan = {
        "id": "ln-1",
        "itemId": "it-1",
        "memberId": "mb-1",
        "checkedOutAt": "2031-11-01T15:00:00.000Z",
        "dueOn": "2031-11-08",
        "checkedOutBy": "st-tomas",
        "returnedAt": None,
        "returnedBy": None,
        "condition": None,
        "note": None,
    }
    return cast("Loan", _changed(cast("dict[str, Any]", loan), changes))


def _changed(row: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    if unknown := changes.keys() - row.keys():
        raise TypeError(f"No such field: {', '.join(sorted(unknown))}. There are {', '.join(row)}.")
    return row | changes
