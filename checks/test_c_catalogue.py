"""C. The catalogue: `/items`, as the server sends it."""

from collections import Counter

import pytest

from pytest_lendbench.bench.store import a_loan, a_member, an_item
from pytest_lendbench.rules.claims import only

pytestmark = pytest.mark.domain(name="C")


@pytest.fixture
def shelf(store):
    """Five items of three categories, one in each status (at the desk it is 4 November 2031)."""
    store.seed(
        items=[
            an_item(id="it-1", name="Sound recorder", category="Audio", description="Two tracks."),
            an_item(id="it-2", name="Camping kettle", category="Outdoors", description="Boils 1.5 l (50% faster)."),
            an_item(id="it-3", name="Tent", category="Outdoors", description="For rain and sound sleep."),
            an_item(id="it-4", name="Jigsaw", category="Tools", description="With a spare blade."),
            an_item(id="it-5", name="Drill", category="Tools", description="No bits.", inMaintenance=True),
        ],
        members=[a_member(id="mb-1"), a_member(id="mb-2"), a_member(id="mb-3")],
        loans=[
            a_loan(id="ln-2", itemId="it-2", memberId="mb-1", dueOn="2031-11-12"),
            a_loan(id="ln-3", itemId="it-3", memberId="mb-2", dueOn="2031-11-04"),
            a_loan(id="ln-4", itemId="it-4", memberId="mb-3", dueOn="2031-11-01"),
        ],
    )


@pytest.mark.check(id="C.heading", tier=0, spec="C.1")
def test_the_catalogue_has_its_title_and_one_heading(shelf, visitor):
    visitor.open("/items")
    visitor.expect_page().to_have_title("Items · Lending Desk")
    visitor.rest()  # what is shown while the page loads may well have the same heading
    visitor.expect(visitor.page.get_by_role("heading", level=1)).to_have_text(["Items"])


@pytest.mark.check(id="C.all-items", tier=0, spec="C.2")
def test_every_item_is_a_card_with_its_status_and_due_text(shelf, visit):
    document = visit("/items")
    cards = {card.name: card.text for card in document.cards()}
    expected = {
        "Sound recorder": ["Available"],
        "Camping kettle": ["On loan", "Due 12 Nov 2031"],
        "Tent": ["Due today"],
        "Jigsaw": ["Overdue", "3 days late"],
        "Drill": ["In maintenance"],
    }
    assert cards.keys() == expected.keys()
    for name, words in expected.items():
        missing = [word for word in words if word not in cards[name]]
        assert not missing, f"the card of {name} lacks {missing}: {cards[name]}"
    assert all(card.listed for card in document.cards()), "the cards stand in no list"


@pytest.mark.check(id="C.next-day", tier=1, spec="C.2, C.6, D.2")
def test_a_day_that_begins_while_the_server_runs_is_seen(shelf, visit, clock, at_desk):
    def seen():
        cards = {card.name: card.text for card in visit("/items").cards()}
        tent = cards.get("Tent", "no card of the tent")
        return tent, visit("/items/it-3").text, visit("/items?status=overdue").names()

    card, detail, overdue = seen()
    assert ("Due today" in card, "Due today" in detail, overdue) == (True, True, ["Jigsaw"])
    clock(at_desk("2031-11-05 00:00"))
    card, detail, overdue = seen()
    for text, what in ((card, "card"), (detail, "page")):
        missing = [words for words in ("Overdue", "1 day late") if words not in text]
        assert not missing, f"on the next day the tent's {what} lacks {missing}: {text}"
    assert overdue == ["Jigsaw", "Tent"], "what is overdue on the next day"


@pytest.mark.check(id="C.order", tier=1, spec="C.3")
def test_cards_stand_in_the_collation_of_english_then_by_id(store, visit):
    names = ["item 10", "Item 9", "éclair tin", "Zip wire", "eclair mould", "Étagère", "Lamé", "Anvil", "anvil"]
    twins = [an_item(id=f"it-{name}", name="Lamp") for name in ("b", "10", "B", "9")]
    store.seed(items=[*(an_item(id=f"it-0{n}", name=name) for n, name in enumerate(names)), *twins])
    document = visit("/items")
    in_order = [
        "anvil",
        "Anvil",
        "eclair mould",
        "éclair tin",
        "Étagère",
        "Item 9",
        "item 10",
        "Lamé",
        "Lamp",
        "Lamp",
        "Lamp",
        "Lamp",
        "Zip wire",
    ]
    assert document.names() == in_order
    links = [card.href for card in document.cards() if card.name == "Lamp"]
    assert links == ["/items/it-10", "/items/it-9", "/items/it-B", "/items/it-b"]


@pytest.mark.check(id="C.search", tier=0, spec="C.3, C.4")
@pytest.mark.weight(points=0.25)
def test_the_search_looks_into_names_and_descriptions(shelf, visit):
    assert visit("/items?q=%20SOUND%20").names() == ["Sound recorder", "Tent"]
    # Some have the letter in the name, some in the description only; the order is that of the names.
    assert visit("/items?q=t").names() == ["Camping kettle", "Drill", "Jigsaw", "Sound recorder", "Tent"]


@pytest.mark.check(id="C.search-literal", tier=1, spec="C.4")
def test_the_search_takes_every_character_as_itself(shelf, visit):
    assert visit("/items?q=1.5").names() == ["Camping kettle"]
    assert visit("/items?q=50%25").names() == ["Camping kettle"]
    assert visit("/items?q=(50").names() == ["Camping kettle"]
    assert visit("/items?q=.*").names() == []
    for elsewhere in ("Drill+No", "blade+spare", "Outdoors", "it-1"):
        assert visit(f"/items?q={elsewhere}").names() == [], "it is in no name and in no description"


@pytest.mark.check(id="C.category", tier=0, spec="C.5")
@pytest.mark.weight(points=0.25)
def test_a_category_keeps_its_own_items_and_an_unknown_one_none(shelf, visit):
    assert visit("/items?category=Outdoors").names() == ["Camping kettle", "Tent"]
    assert visit("/items?category=outdoor").names() == []
    assert visit("/items?category=%20Outdoors").names() == []


@pytest.mark.check(id="C.status", tier=0, spec="C.6")
@pytest.mark.weight(points=0.25)
def test_a_status_keeps_the_items_that_have_it(shelf, visit):
    by_status = {
        "available": ["Sound recorder"],
        "on-loan": ["Camping kettle"],
        "due-today": ["Tent"],
        "overdue": ["Jigsaw"],
        "maintenance": ["Drill"],
    }
    assert {status: visit(f"/items?status={status}").names() for status in by_status} == by_status
    for no_status in ("lost", "constructor", "Available"):
        assert len(visit(f"/items?status={no_status}").names()) == 5, f"{no_status} is no status"


@pytest.mark.check(id="C.lent-in-maintenance", tier=1, spec="C.2, C.6, A.5")
def test_an_item_in_maintenance_that_is_on_loan_counts_as_lent(store, visit):
    store.seed(
        items=[an_item(id="it-saw", name="Jigsaw", inMaintenance=True)],
        members=[a_member()],
        loans=[a_loan(itemId="it-saw", dueOn="2031-11-03")],
    )
    card = only(visit("/items").cards(), "card")
    missing = [words for words in ("Overdue", "1 day late") if words not in card.text]
    assert not missing, f"the card lacks {missing}: {card.text}"
    assert visit("/items?status=overdue").names() == ["Jigsaw"]
    assert visit("/items?status=maintenance").names() == []


@pytest.mark.check(id="C.combined", tier=0, spec="C.7")
@pytest.mark.weight(points=0.25)
def test_filters_work_together_and_the_first_of_a_repeated_one_counts(shelf, visit):
    assert visit("/items?q=sound&category=Outdoors").names() == ["Tent"]
    assert visit("/items?category=Tools&status=overdue&q=").names() == ["Jigsaw"]
    assert visit("/items?category=Tools&category=Audio").names() == ["Drill", "Jigsaw"]
    assert visit("/items?q=tent&q=drill&status=&category=").names() == ["Tent"]
    for first_is_none in ("category=&category=Tools", "status=&status=overdue"):
        assert len(visit(f"/items?{first_is_none}").names()) == 5, f"the first one filters nothing: {first_is_none}"


@pytest.mark.check(id="C.count", tier=0, spec="C.8")
def test_the_page_says_how_many_of_all_items_it_shows(shelf, store, visit):
    assert "5 of 5 items" in visit("/items").text
    assert "2 of 5 items" in visit("/items?category=Tools").text
    assert "1 of 5 items" in visit("/items?category=Audio").text
    store.seed(items=[an_item(name="Ladder")])
    alone = visit("/items").text
    assert "1 of 1 item" in alone
    assert "1 of 1 items" not in alone


@pytest.mark.check(id="C.empty", tier=1, spec="C.9")
def test_an_empty_result_and_an_empty_store_say_so(shelf, store, visit):
    nothing = visit("/items?q=zeppelin")
    assert "No items match." in nothing.text
    assert nothing.link("Clear filters") == "/items"
    store.seed()
    for query in ("", "?q=zeppelin"):
        empty = visit(f"/items{query}").text
        assert "There are no items yet." in empty
        assert "No items match." not in empty


@pytest.mark.check(id="C.filter-form", tier=1, spec="C.10")
def test_the_filters_work_without_script_files_and_show_what_is_in_force(shelf, screens):
    plain = screens()
    plain.page.route("**/*.js", lambda route: route.abort())
    plain.open("/items?category=Tools")
    page = plain.page
    plain.expect(page.get_by_label("Category").locator("option")).to_have_text(
        ["All categories", "Audio", "Outdoors", "Tools"]
    )
    plain.expect(page.get_by_label("Status").locator("option")).to_have_text(
        ["Any status", "Available", "On loan", "Due today", "Overdue", "In maintenance"]
    )
    plain.expect(page.get_by_label("Category").locator("option:checked")).to_have_text("Tools")
    plain.fill(page.get_by_label("Search"), "spare")
    plain.click(page.get_by_role("button", name="Apply filters"))
    plain.expect(page.get_by_role("article")).to_have_count(1)
    plain.expect(page.get_by_role("heading", name="Jigsaw")).to_be_visible()
    plain.expect(page.get_by_label("Search")).to_have_value("spare")


@pytest.mark.check(id="C.parallel-reads", tier=2, spec="C.11")
def test_no_read_of_the_catalogue_waits_for_another(shelf, store, desk):
    for path in ("/items", "/items?q=nothing-of-the-kind"):
        store.settle()
        asked = len(store.trace)
        desk.get(path)
        reads = sorted(operation.name for operation in store.trace[asked:])
        assert "items.list" in reads, f"the catalogue asked for {reads}, not for the items"
        with store.held(*set(reads)) as held, desk.opening(path):
            store.settle()
            waiting = sorted(operation.name for operation in held.operations)
        assert waiting == reads, (
            f"with every answer held back {path} asks for {waiting}; in a visit it asks for {reads}"
        )


@pytest.mark.check(id="C.present", tier=0, spec="C.2")
def test_a_visit_shows_what_was_changed_from_outside(shelf, store, visit):
    assert "Kayak" not in visit("/items").names()
    store.seed(items=[an_item(name="Kayak")])
    card = only(visit("/items").cards(), "card")
    assert card.name == "Kayak"
    assert "Available" in card.text
    store.seed(items=[an_item(name="Kayak", shelf="Z9")], loans=[a_loan(dueOn="2031-11-12")])
    card = only(visit("/items").cards(), "card")
    missing = [words for words in ("Shelf Z9", "On loan", "Due 12 Nov 2031") if words not in card.text]
    assert not missing, f"another process has changed item and loans, but the card lacks {missing}: {card.text}"


@pytest.mark.check(id="C.few-reads", tier=2, spec="C.12")
def test_the_number_of_reads_does_not_grow_with_items_on_loan(store, desk):
    def reads(count):
        store.seed(
            items=[an_item(id=f"it-{n}", name=f"Lamp {n}") for n in range(count)],
            members=[a_member(id=f"mb-{n}") for n in range(count)],
            loans=[
                a_loan(id=f"ln-{n}", itemId=f"it-{n}", memberId=f"mb-{n}", dueOn="2031-11-12") for n in range(count)
            ],
        )
        answer = desk.get("/items?status=on-loan")
        assert f"Lamp {count - 1}" in answer.text, f"the catalogue answered {answer.status} without its items"
        return Counter(store.asked())  # all of them: what is asked for in the background costs as much

    few, many = reads(3), reads(40)
    assert many == few, f"3 items on loan: {dict(few)}; 40 items: {dict(many)}"


@pytest.mark.check(id="C.filters-shown", tier=1, spec="C.10")
def test_the_form_shows_the_filters_in_force_also_a_category_without_items(shelf, visit):
    form = visit("/items?q=+Sound&category=Sailing&status=overdue")
    assert form.chosen("Category") == "Sailing"
    assert form.chosen("Status") == "Overdue"
    assert str(form.control("Search").get("value", "")).strip() == "Sound"
    idle = visit("/items")
    assert (idle.chosen("Category"), idle.chosen("Status")) == ("All categories", "Any status")
    assert idle.options("Category") == ["All categories", "Audio", "Outdoors", "Tools"]


@pytest.mark.check(id="C.categories", tier=2, spec="C.5, C.10")
def test_categories_stand_once_each_in_the_collation_of_english(store, visit):
    names = ["Zelte", "Size 10", "Äxte", "size 9", "Axles", "Zelte"]
    store.seed(items=[an_item(category="Of yesterday")])
    assert visit("/items").options("Category") == ["All categories", "Of yesterday"]
    store.seed(items=[an_item(id=f"it-{n}", name=f"Thing {n}", category=name) for n, name in enumerate(names)])
    assert visit("/items").options("Category") == ["All categories", "Axles", "Äxte", "size 9", "Size 10", "Zelte"]
    assert visit("/items?category=Size+10").options("Category")[1:] == ["Axles", "Äxte", "size 9", "Size 10", "Zelte"]
    store.seed(items=[an_item(category="Hand  tools")])
    options = visit("/items").control("Category").find_all("option")
    option = only((option for option in options if "Hand" in option.get_text()), "option of the category")
    # Without a value a browser sends the text, its white space collapsed.
    sent = option.get("value", " ".join(option.get_text().split()))
    assert sent == "Hand  tools", f"the form asks for the category {sent!r}, which no item has"


@pytest.mark.check(id="C.search-case", tier=1, spec="C.4")
def test_the_search_has_no_regard_to_case_in_any_alphabet(store, visit):
    store.seed(
        items=[
            an_item(id="it-1", name="ÉCLAIR tin", description="For twelve."),
            an_item(id="it-2", name="Whisk", description="Not for éclairs."),
            an_item(id="it-3", name="Пила", description="Steel."),
        ]
    )
    assert visit("/items?q=%C3%A9clair").names() == ["ÉCLAIR tin", "Whisk"]
    assert visit("/items?q=%D0%BF%D0%B8%D0%9B%D0%90").names() == ["Пила"]
    assert visit("/items?q=eclair").names() == [], "an accent makes another letter"
    assert visit("/items?q=for++twelve").names() == [], "white space inside the text is part of it"


@pytest.mark.check(id="C.cleared", tier=2, spec="C.9, C.10")
def test_clearing_the_filters_shows_all_items_and_empties_the_form(shelf, visitor):
    visitor.open("/items?category=Sailing&status=overdue")
    page = visitor.page
    visitor.click(page.get_by_role("link", name="Clear filters"))
    visitor.expect(page.get_by_role("article")).to_have_count(5)
    visitor.expect(page.get_by_label("Category").locator("option:checked")).to_have_text("All categories")
    visitor.expect(page.get_by_label("Status").locator("option:checked")).to_have_text("Any status")


@pytest.mark.check(id="C.namesakes", tier=2, spec="C.2, C.8")
def test_namesakes_stand_once_each_also_after_a_filter_is_left(store, visitor):
    names = ["Anvil", "Lamp", "Lamp", "Tent", "Zither"]
    store.seed(items=[an_item(id=f"it-{n}", name=name) for n, name in enumerate(names)])
    page = visitor.page
    headings = page.get_by_role("article").get_by_role("heading")
    visitor.open("/items?q=lamp")
    visitor.expect(headings).to_have_text(["Lamp", "Lamp"])
    visitor.click(page.get_by_role("navigation", name="Main").get_by_role("link", name="Items"))
    visitor.expect(page.get_by_text("5 of 5 items").first).to_be_visible()
    visitor.expect(headings).to_have_text(names)


@pytest.mark.check(id="C.returned-loan", tier=0, spec="C.2")
def test_a_loan_that_was_returned_says_nothing_about_the_item(store, visit):
    came_back = {"returnedAt": "2031-10-20T15:00:00.000Z", "returnedBy": "st-imke", "condition": "good"}
    store.seed(
        items=[an_item(id="it-1", name="Lamp"), an_item(id="it-2", name="Tent")],
        members=[a_member(id="mb-1")],
        loans=[
            a_loan(id="ln-1", itemId="it-1", dueOn="2031-10-12", **came_back),
            a_loan(id="ln-2", itemId="it-2", dueOn="2031-11-12"),
            a_loan(id="ln-3", itemId="it-2", dueOn="2031-10-12", **came_back),
        ],
    )
    cards = {card.name: card.text for card in visit("/items").cards()}
    assert cards.keys() == {"Lamp", "Tent"}
    assert "Available" in cards["Lamp"]
    assert "late" not in cards["Lamp"]
    assert "Due 12 Nov 2031" in cards["Tent"], f"of the loans of the tent the open one counts: {cards['Tent']}"
