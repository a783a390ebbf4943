"""One worker's server: started when it is needed, and again when a check has brought it down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pytest_lendbench.bench.server import AppServer
from pytest_lendbench.bench.store import Store

if TYPE_CHECKING:
    from pathlib import Path


class Host:
    """A built tree, and at most one server that runs it. A context manager that stops it at the end.

    Attributes:
        store: Behind the server; another one after each new start.
    """

    def __init__(self, tree: Path, node: Path) -> None:
        self._tree = tree
        self._node = node
        self._server: AppServer | None = None
        self.store = Store()

    def server(self) -> AppServer:
        """The running server.

        Raises:
            CandidateFault, InstrumentError: It doesn't start: see `AppServer.boot`.
        """
        if self._server is not None and not self._server.is_alive:
            self.stop()
            self.store = Store()
        if self._server is None:
            self._server = AppServer.boot(self._tree, self._node, self.store)
        return self._server

    def stop(self) -> None:
        """Stops the server and closes its store."""
        server, self._server = self._server, None
        try:
            if server is not None:
                server.stop()
        finally:
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
