"""The machine a grading ran on, and how busy it was."""

import importlib.metadata
import os
import platform
from typing import Any

import psutil

_PACKAGES = ("pytest-lendbench", "pytest", "pytest-xdist", "pytest-playwright", "playwright", "httpx", "beautifulsoup4")


def facts() -> dict[str, Any]:
    """System, processors and memory (bytes)."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
    }


def versions() -> dict[str, str]:
    """Of Python and the packages that verdicts depend on."""
    return {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in _PACKAGES}}


class Load:
    """The load average of the last minute: before, at most during, and after a grading."""

    def __init__(self) -> None:
        self.before = self.most = self._now()

    def look(self) -> None:
        """Takes note of the present."""
        self.most = max(self.most, self._now())

    def told(self) -> dict[str, float]:
        now = self._now()
        return {"before": self.before, "during": max(self.most, now), "after": now}

    @staticmethod
    def _now() -> float:
        return round(psutil.getloadavg()[0], 2)
