"""What a candidate answers may have any shape: it is taken apart, or it is the candidate's fault."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.rules.claims import only, part, texts
from pytest_lendbench.rules.errors import CandidateFault

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["loan", "loans", "id"]) | st.text(), inner),
)


@given(JSON)
def test_no_answer_is_an_error_of_ours(data):
    with suppress(CandidateFault):
        part(data, "loan", "id")
    with suppress(CandidateFault):
        assert all(isinstance(text, str) for text in texts(part(data, "loans"), "id"))


def test_what_is_there_is_found():
    assert part({"loan": {"id": 7}}, "loan", "id") == 7
    assert texts([{"id": "a"}, {"id": "b"}], "id") == ["a", "b"]
    assert only(iter(["tent"]), "item") == "tent"


@pytest.mark.parametrize("found", [[], ["tent", "drill"]])
def test_what_is_not_there_once_is_said(found):
    with pytest.raises(CandidateFault, match=f"Expected one item, found {len(found)}"):
        only(found, "item")
