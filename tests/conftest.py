"""The fixtures of the plugin's tests, and how hypothesis runs."""

from __future__ import annotations

import pytest
from gradings import Grader
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester"]

# No test of ours depends on how fast the machine is.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture
def grader(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Grader:
    return Grader(pytester, monkeypatch)


@pytest.fixture(params=[[], ["-n0"], ["-n2"], ["-p", "no:xdist"]], ids=lambda words: " ".join(words) or "default")
def way(request: pytest.FixtureRequest) -> list[str]:
    """The ways in which checks can be distributed."""
    words: list[str] = request.param
    return words
