"""The store: the facts of a graded server, and its time, in the grader's hands."""

from pytest_lendbench.bench.store.epoch import Operation
from pytest_lendbench.bench.store.rows import (
    CANARY,
    CANARY_CENTS,
    Item,
    Loan,
    Member,
    a_loan,
    a_member,
    an_item,
)
from pytest_lendbench.bench.store.state import SeenRequest
from pytest_lendbench.bench.store.store import Failure, Held, Store
from pytest_lendbench.bench.store.tables import READS, WRITES

__all__ = [
    "CANARY",
    "CANARY_CENTS",
    "READS",
    "WRITES",
    "Failure",
    "Held",
    "Item",
    "Loan",
    "Member",
    "Operation",
    "SeenRequest",
    "Store",
    "a_loan",
    "a_member",
    "an_item",
]
