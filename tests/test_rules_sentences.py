"""Reading the spec's numbered sentences."""

from __future__ import annotations

import pytest

from pytest_lendbench.rules.sentences import cited, sentences
from pytest_lendbench.suite import default_suite

SPEC = """# A spec

Words before.

## C. A surface

- **C.1** A short one.
- **C.2** A long one, with `**stars**`,
  on two lines.

## D

- **D.10** The last.
"""


def test_each_sentence_is_one_line() -> None:
    assert sentences(SPEC) == {
        "C.1": "A short one.",
        "C.2": "A long one, with `**stars**`, on two lines.",
        "D.10": "The last.",
    }


def test_several_can_be_cited() -> None:
    assert cited("D.10, C.1", sentences(SPEC)) == "The last. A short one."


def test_a_number_that_the_spec_lacks_is_named() -> None:
    with pytest.raises(LookupError, match=r"no sentence C\.3"):
        cited("C.1, C.3", sentences(SPEC))


def test_the_apps_own_spec_has_all_its_domains() -> None:
    found = sentences(default_suite().read_spec())
    assert {number[0] for number in found} == set("ABCDEFGH")
    assert all(text.endswith((".", '."')) for text in found.values())
