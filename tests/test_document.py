"""What is read out of an answer's HTML."""

import pytest

from pytest_lendbench.bench.document import Document
from pytest_lendbench.rules.claims import only
from pytest_lendbench.rules.errors import CandidateFault

FORM = """
<form>
  <label for="q">Search</label><input id="q" value="drill">
  <label>Category <select><option>All</option><option selected>Tools &amp; more</option></select></label>
  <select aria-label="Status"><option>Any status</option><option>On loan</option></select>
</form>
"""


def test_a_control_is_found_by_its_label_however_that_is_tied_to_it():
    document = Document(FORM)
    assert document.control("Search")["value"] == "drill"
    assert document.options("Category") == ["All", "Tools & more"]
    assert document.options("Status") == ["Any status", "On loan"]


def test_the_chosen_option_is_the_selected_one_or_else_the_first():
    document = Document(FORM)
    assert (document.chosen("Category"), document.chosen("Status")) == ("Tools & more", "Any status")


def test_what_is_not_there_is_the_candidates_fault():
    with pytest.raises(CandidateFault, match="no control with the label 'Due day'"):
        Document(FORM).control("Due day")
    with pytest.raises(CandidateFault, match="'Search' has no options"):
        Document(FORM).chosen("Search")


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ('<a href="/items/1">Lamp</a>', "Lamp"),
        ('<a href="/items/1" aria-label="Lamp, on loan">Lamp</a>', "Lamp, on loan"),
        ('<a href="/items/1" aria-labelledby="n s">More</a><i id="n">Lamp</i><i id="s">late</i>', "Lamp late"),
    ],
)
def test_a_link_is_called_what_assistive_technology_calls_it(link, name):
    card = only(Document(f"<ul><li><article><h2>Lamp</h2>{link}</article></li></ul>").cards(), "card")
    assert (card.link_name, card.href, card.listed) == (name, "/items/1", True)


def test_a_card_outside_of_a_list_is_not_listed():
    assert [card.listed for card in Document("<div><article><h2>Lamp</h2></article></div>").cards()] == [False]
    assert [card.listed for card in Document('<i role="listitem"><article></article></i>').cards()] == [True]


def test_what_was_streamed_stands_where_the_inline_scripts_of_react_put_it():
    shell = (
        '<h1>Items</h1><!--$?--><template id="B:0"></template><p>Loading</p><!--$--><i>still</i><!--/$--><!--/$-->'
        "<b>End</b>"
        '<label>Category <select><!--$?--><template id="B:1"></template><option>None</option><!--/$--></select></label>'
    )
    assert str(Document(shell).text) == "Items Loading still End Category None"
    streamed = (
        '<div hidden id="S:0"><ul><li>Lamp</li><template id="P:2"></template></ul></div>'
        '<script>$RC=(b,c)=>{};$RC("B:0","S:0")</script>'
        '<div hidden id="S:2"><li>Tent</li></div><script>$RS=(s,p)=>{};$RS("S:2","P:2")</script>'
        '<div hidden id="S:1"><option>All</option><option>Tools</option></div><script>$RR("B:1","S:1",[])</script>'
    )
    document = Document(shell + streamed)
    assert str(document.text) == "Items Lamp Tent End Category All Tools"
    assert document.options("Category") == ["All", "Tools"]


def test_the_title_is_the_pages_and_not_a_pictures():
    assert Document("<svg><title>Icon</title></svg><title>Items</title>").title == "Items"


@pytest.mark.parametrize("names", ['"B:0","S:0"', '"a","a"', '"b","a"', '"b","b"'])
def test_a_script_that_names_what_cannot_be_moved_moves_nothing(names):
    html = '<p id="a">Lamp <b id="b">late</b></p>'
    assert str(Document(f"{html}<script>$RC({names})</script>").text) == "Lamp late"
