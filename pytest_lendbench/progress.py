"""What a person sees while a grading runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_lendbench import options

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


class Progress:
    """Lines on pytest's terminal, if it has one; on a real one, the last of them counts the checks."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._counting = False

    def say(self, text: str) -> None:
        """A line about what is being done."""
        self.line(f"  {text}")

    def line(self, text: str = "", **colours: bool) -> None:
        """A line as it is, with the colours that pytest's terminal writer takes."""
        self.end()
        self._write(lambda terminal: terminal.write_line(text, **colours))

    def count(self, done: int, of: int, failed: int) -> None:
        """How far the checks are."""
        lost = f", {failed} failed" if failed else ""

        def rewrite(terminal: pytest.TerminalReporter) -> None:
            if options.quiet(self._config) and terminal.isatty():
                terminal.rewrite(f"  {done} of {of} checks{lost}", erase=True)
                self._counting = True

        self._write(rewrite)

    def end(self) -> None:
        """Goes to a new line after a count."""
        if self._counting:
            self._counting = False
            self._write(lambda terminal: terminal.write("\n"))

    def _write(self, write: Callable[[pytest.TerminalReporter], None]) -> None:
        terminal: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is None:
            return
        try:
            write(terminal)
            terminal.flush()
        except BrokenPipeError:
            # Whoever read us has had enough (`| head`). The result must not depend on it.
            with open(os.devnull, "w") as nowhere:  # noqa: PTH123
                os.dup2(nowhere.fileno(), self._config.get_terminal_writer()._file.fileno())  # noqa: SLF001
            terminal.flush()
