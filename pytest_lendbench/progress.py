"""What a person sees while a grading runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


class Progress:
    """Lines on pytest's terminal; where that is a real one, the last of them counts the checks."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._counting = False

    @property
    def _terminal(self) -> pytest.TerminalReporter | None:
        found: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
        return found

    def say(self, text: str) -> None:
        """A line about what is being done."""
        if (terminal := self._terminal) is not None:
            self.end()
            terminal.write_line(f"  {text}")
            terminal.flush()

    def count(self, done: int, of: int, failed: int) -> None:
        """How far the checks are."""
        terminal = self._terminal
        if terminal is not None and self._config.option.verbose <= 0 and terminal.isatty():
            lost = f", {failed} failed" if failed else ""
            terminal.rewrite(f"  {done} of {of} checks{lost}", erase=True)
            terminal.flush()
            self._counting = True

    def end(self) -> None:
        """Goes to a new line after a count."""
        if (terminal := self._terminal) is not None and self._counting:
            terminal.write("\n")
            self._counting = False
