"""What is sent to a browser beyond what it shows."""

import pytest

pytestmark = [pytest.mark.domain(name="P"), pytest.mark.usefixtures("scene")]

IMKE = "st-imke"


@pytest.mark.probe(
    id="P.private-fields",
    tier=1,
    why="Whole rows given to client components end up in the page's payload, whatever is displayed.",
)
def test_fields_that_no_page_shows_are_not_sent(store, desk):
    secrets = {
        str(row[field])
        for table, fields in (("items", ("serialNumber", "purchasePriceCents")), ("members", ("privateNote", "email")))
        for row in store.rows(table)
        for field in fields
    }
    for path in ("/items", "/items/it-drill", "/items/it-tent"):
        for staff in (None, IMKE):
            sent = desk.get(path, staff=staff).text
            assert "Drill" in sent or "Tent" in sent, f"{path} sent nothing of the item"
            leaked = sorted(secret for secret in secrets if secret in sent)
            assert not leaked, f"{path} sent to {staff or 'a visitor'} holds {leaked}"
