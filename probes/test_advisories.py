"""Reported and never scored: which of React's newer means the candidate's source uses."""

import re

import pytest

pytestmark = pytest.mark.domain(name="ADV")


def uses(source, name):
    """The files whose code names it, be it by another name (`as`) or as `React.…`. What a comment says is no use."""
    code = {path: re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL) for path, text in source.items()}
    return [path for path, text in code.items() if re.search(rf"\b{name}\b", text)]


@pytest.mark.advisory(id="ADV.useActionState", why="The hook that ties a form to its action's state.")
def test_a_form_uses_use_action_state(source):
    assert uses(source, "useActionState"), "no writable file uses useActionState"


@pytest.mark.advisory(id="ADV.useOptimistic", why="The hook that shows a result before the server has confirmed it.")
def test_a_form_uses_use_optimistic(source):
    assert uses(source, "useOptimistic"), "no writable file uses useOptimistic"
