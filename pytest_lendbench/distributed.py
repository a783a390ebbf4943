"""All there is about xdist: handing the built tree to the workers, and noticing their deaths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_lendbench import options
from pytest_lendbench.rules.errors import InstrumentError

if TYPE_CHECKING:
    from xdist.dsession import DSession  # type: ignore[import-untyped]
    from xdist.workermanage import WorkerController  # type: ignore[import-untyped]

    from pytest_lendbench.controller import Controller

WORKERS = 2
_INPUT = "lendbench"


def default_arguments(config: pytest.Config) -> list[str]:
    """What a grading says to xdist, for the user's own words to override; nothing where xdist is not loaded."""
    if not config.pluginmanager.hasplugin("xdist"):
        return []
    known = config.known_args_namespace
    alone = known.usepdb or known.tx or known.numprocesses is not None
    return ["--max-worker-restart=0", "--dist=worksteal", *([] if alone else [f"-n{WORKERS}"])]


def is_worker(config: pytest.Config) -> bool:
    """Whether this process runs checks for another one."""
    return hasattr(config, "workerinput")


def distributes(config: pytest.Config) -> bool:
    """Whether this process lets others run the checks."""
    return not is_worker(config) and config.getoption("dist", "no") != "no" and bool(config.getoption("tx", None))


def handed_over(config: pytest.Config) -> str:
    """In a worker: what the controller has handed over."""
    given: dict[str, Any] = config.workerinput  # type: ignore[attr-defined]
    return str(given[_INPUT])


class Distribution:
    """The controller's side. Registered where the checks are distributed."""

    def __init__(self, config: pytest.Config, controller: Controller) -> None:
        self._config = config
        self._controller = controller

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Keeps xdist from writing about its nodes, except with -v. It has no option for that."""
        if options.quiet(self._config):
            self._config.pluginmanager.unregister(name="terminaldistreporter")
            self._session().terminal = None

    @pytest.hookimpl(trylast=True)
    def pytest_xdist_setupnodes(self, specs: list[object]) -> None:
        # xdist offers no other way to start no worker at this late point.
        if self._controller.blocked:
            specs.clear()

    def pytest_configure_node(self, node: WorkerController) -> None:
        node.workerinput[_INPUT] = self._controller.handover()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        # The other workers would run what they could collect.
        if report.failed:
            self._session().shouldstop = "a check could not be collected"

    def _session(self) -> DSession:
        return self._config.pluginmanager.get_plugin("dsession")

    def pytest_testnodedown(self, node: WorkerController, error: object | None) -> None:
        if error is not None:
            self._controller.problem(
                InstrumentError(
                    f"Worker {node.gateway.id} died while it ran checks ({error}).",
                    "Look for what ended it, such as a signal or a lack of memory. Then grade again.",
                )
            )

    def pytest_handlecrashitem(self, crashitem: str) -> None:
        self._controller.problem(InstrumentError(f"It was running {crashitem}.", "Grade again."))
