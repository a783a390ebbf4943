"""Reported and never scored: which of React's newer means the candidate's source uses."""

import re

import pytest

pytestmark = pytest.mark.domain(name="ADV")


def calls(source, name):
    return [path for path, text in source.items() if re.search(rf"\b{name}\s*(<[^()]*>)?\(", text)]


@pytest.mark.advisory(id="ADV.useActionState", why="The hook that ties a form to its action's state.")
def test_a_form_uses_use_action_state(source):
    assert calls(source, "useActionState"), "no writable file calls useActionState"


@pytest.mark.advisory(id="ADV.useOptimistic", why="The hook that shows a result before the server has confirmed it.")
def test_a_form_uses_use_optimistic(source):
    assert calls(source, "useOptimistic"), "no writable file calls useOptimistic"
