"""What one check is worth."""

from fractions import Fraction

from pytest_lendbench.rules.catalog import Catalog
from pytest_lendbench.rules.ledger import Ledger
from pytest_lendbench.rules.scoring import Measures, score


def worth(catalog: Catalog, name: str) -> Fraction:
    """The points of 100 that a tree loses when it fails this check and is perfect otherwise; 0 for an advisory.

    Raises:
        KeyError: The catalog has no such check.
    """
    ledger = Ledger(catalog)
    ledger[name]
    for spec in catalog:
        ledger.report(spec.id, "failed" if spec.id == name else "passed")
    perfect = Measures(gate_passed=True, violated_classes=0)
    return 100 - score(ledger, perfect).exact
