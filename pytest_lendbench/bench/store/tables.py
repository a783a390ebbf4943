"""The store's operations on its rows: the same as `src/db/memory.ts`, whose contract is `src/db/operations.ts`."""

import copy
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

from pytest_lendbench.bench.store.rows import Rows

Row = dict[str, Any]
Args = Mapping[str, Any]

WRITES = frozenset(
    {
        "items.setMaintenance",
        "members.register",
        "members.changeStatus",
        "loans.create",
        "loans.close",
        "loans.checkOut",
        "loans.checkIn",
    }
)
"""The operations that may change a row."""


class OperationError(Exception):
    """The operation can't be done: it is none, or its arguments are malformed. The message goes to the app."""


class Tables:
    """The rows of one epoch. Each operation is atomic."""

    def __init__(self, rows: Rows) -> None:
        given = copy.deepcopy(rows)
        self._items = cast("list[Row]", given["items"])
        self._members = cast("list[Row]", given["members"])
        self._loans = cast("list[Row]", given["loans"])

    def rows(self) -> Rows:
        """A copy of all rows."""
        return cast("Rows", copy.deepcopy({"items": self._items, "members": self._members, "loans": self._loans}))

    def run(self, name: str, args: object) -> Any:
        """Runs one operation; its result is JSON and a copy.

        Raises:
            OperationError: There is no such operation, or its arguments are malformed.
        """
        if name not in self.handlers:
            raise OperationError(f"Unknown store operation: {name}")
        if not isinstance(args, dict):
            raise OperationError(f"{name}: the arguments must be an object.")
        try:
            return copy.deepcopy(self.handlers[name](self, args))
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise OperationError(f"{name}: malformed arguments ({error!r}).") from error

    # Items.

    def _items_list(self, _args: Args) -> list[Row]:
        return self._items

    def _items_get(self, args: Args) -> Row | None:
        return _find(self._items, args["id"])

    def _items_count(self, _args: Args) -> int:
        return len(self._items)

    def _items_categories(self, _args: Args) -> list[str]:
        return list(dict.fromkeys(item["category"] for item in self._items))

    def _items_set_maintenance(self, args: Args) -> Row | None:
        item = _find(self._items, args["id"])
        if item is not None:
            item["inMaintenance"] = args["inMaintenance"]
        return item

    # Members.

    def _members_list(self, _args: Args) -> list[Row]:
        return self._members

    def _members_get(self, args: Args) -> Row | None:
        return _find(self._members, args["id"])

    def _members_by_ids(self, args: Args) -> list[Row]:
        return [member for member in self._members if member["id"] in args["ids"]]

    def _members_register(self, args: Args) -> Row:
        email = args["email"].lower()
        if any(member["email"].lower() == email for member in self._members):
            return {"ok": False, "reason": "email-taken"}
        member = {
            "id": _fresh_id("mb", self._members),
            "name": args["name"],
            "email": args["email"],
            "memberClass": args["memberClass"],
            "status": "active",
            "suspensionReason": None,
            "joinedAt": args["at"],
            "privateNote": "",
        }
        self._members.append(member)
        return {"ok": True, "member": member}

    def _members_change_status(self, args: Args) -> Row:
        member = _find(self._members, args["id"])
        if member is None:
            return {"ok": False, "reason": "not-found"}
        if member["status"] != args["from"]:
            return {"ok": False, "reason": "changed"}
        member.update(status=args["to"], suspensionReason=args["reason"])
        return {"ok": True, "member": member}

    # Loans.

    def _loans_list(self, args: Args) -> list[Row]:
        return [
            loan
            for loan in self._loans
            if ("itemId" not in args or loan["itemId"] == args["itemId"])
            and ("memberId" not in args or loan["memberId"] == args["memberId"])
            and ("open" not in args or (loan["returnedAt"] is None) is args["open"])
        ]

    def _loans_get(self, args: Args) -> Row | None:
        return _find(self._loans, args["id"])

    def _loans_create(self, args: Args) -> Row:
        loan = {
            "id": _fresh_id("ln", self._loans),
            "itemId": args["itemId"],
            "memberId": args["memberId"],
            "checkedOutAt": args["at"],
            "dueOn": args["dueOn"],
            "checkedOutBy": args["staffId"],
            "returnedAt": None,
            "returnedBy": None,
            "condition": None,
            "note": None,
        }
        self._loans.append(loan)
        return loan

    def _loans_close(self, args: Args) -> Row | None:
        loan = _find(self._loans, args["id"])
        if loan is not None:
            loan.update(
                returnedAt=args["at"], returnedBy=args["staffId"], condition=args["condition"], note=args["note"]
            )
        return loan

    def _loans_check_out(self, args: Args) -> Row:
        item = _find(self._items, args["itemId"])
        if item is not None and item["inMaintenance"]:
            return {"ok": False, "reason": "in-maintenance"}
        if self._loans_list({"itemId": args["itemId"], "open": True}):
            return {"ok": False, "reason": "on-loan"}
        # JSON has no Infinity: a candidate's "no limit" arrives as null.
        limit = args["limit"]
        if limit is not None and len(self._loans_list({"memberId": args["memberId"], "open": True})) >= limit:
            return {"ok": False, "reason": "limit-reached"}
        return {"ok": True, "loan": self._loans_create(args)}

    def _loans_check_in(self, args: Args) -> Row:
        loan = _find(self._loans, args["id"])
        if loan is None:
            return {"ok": False, "reason": "not-found"}
        if loan["returnedAt"] is not None:
            return {"ok": False, "reason": "already-returned"}
        self._loans_close(args)
        if args["condition"] == "damaged":
            self._items_set_maintenance({"id": loan["itemId"], "inMaintenance": True})
        return {"ok": True, "loan": loan}

    handlers: ClassVar[dict[str, Callable[[Any, Args], Any]]] = {
        "items.list": _items_list,
        "items.get": _items_get,
        "items.count": _items_count,
        "items.categories": _items_categories,
        "items.setMaintenance": _items_set_maintenance,
        "members.list": _members_list,
        "members.get": _members_get,
        "members.byIds": _members_by_ids,
        "members.register": _members_register,
        "members.changeStatus": _members_change_status,
        "loans.list": _loans_list,
        "loans.get": _loans_get,
        "loans.create": _loans_create,
        "loans.close": _loans_close,
        "loans.checkOut": _loans_check_out,
        "loans.checkIn": _loans_check_in,
    }


OPERATIONS = frozenset(Tables.handlers)
"""The names of all operations."""

READS = OPERATIONS - WRITES
"""The operations that change nothing."""


def _find(rows: list[Row], row_id: object) -> Row | None:
    return next((row for row in rows if row["id"] == row_id), None)


def _fresh_id(prefix: str, rows: list[Row]) -> str:
    taken = {row["id"] for row in rows}
    n = len(rows) + 1
    while f"{prefix}-{n}" in taken:
        n += 1
    return f"{prefix}-{n}"
