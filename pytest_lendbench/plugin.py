"""The pytest plugin. It only registers: what a grading does is in the modules it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_lendbench import defaults, distributed, hookspecs, markers, options, safe_start
from pytest_lendbench.rules.errors import InstrumentError
from pytest_lendbench.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Generator

SUITE = pytest.StashKey[Suite]()


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspecs)
    pluginmanager.register(defaults, "lendbench-defaults")


def pytest_addoption(parser: pytest.Parser) -> None:
    options.add(parser)


# The outermost wrapper, so that a new start finds standard output as it was.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Generator[None, None, None]:
    if early_config.known_args_namespace.candidate is not None:
        try:
            suite = early_config.hook.pytest_lendbench_suite()
        except InstrumentError as error:
            raise pytest.UsageError(str(error)) from error
        early_config.stash[SUITE] = suite
        safe_start.enter(early_config, args, suite)
    yield


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    markers.declare(config)
    if config.option.candidate is None:
        return
    # Imported here: without --candidate this plugin costs next to nothing.
    from pytest_lendbench import fixtures  # noqa: PLC0415
    from pytest_lendbench.controller import Controller  # noqa: PLC0415
    from pytest_lendbench.faces.html_report import HtmlFace  # noqa: PLC0415
    from pytest_lendbench.faces.json_report import JsonFace  # noqa: PLC0415
    from pytest_lendbench.faces.junit import JUnitFace  # noqa: PLC0415
    from pytest_lendbench.faces.markdown import MarkdownFace  # noqa: PLC0415
    from pytest_lendbench.faces.terminal import TerminalFace  # noqa: PLC0415
    from pytest_lendbench.worker import Worker  # noqa: PLC0415

    register = config.pluginmanager.register
    suite = config.stash[SUITE]
    if distributed.is_worker(config):
        register(Worker.of_controller(config), "lendbench-worker")
    elif options.grading(config):
        controller = Controller(config, suite)
        # Before the controller, so that this hears of a report after it.
        register(JUnitFace(config.getoption("xmlpath", None), suite), "lendbench-junit")
        register(controller, "lendbench-controller")
        asked = controller.options
        reports = (asked.score_html, asked.score_json, asked.score_markdown)
        files = [file for file in reports if file is not None]
        register(TerminalFace(config, files), "lendbench-terminal")
        register(JsonFace(asked.score_json), "lendbench-json")
        register(HtmlFace(asked.score_html, suite.paths), "lendbench-html")
        others = [file for file in files if file != asked.score_markdown]
        register(MarkdownFace(asked.score_markdown, others), "lendbench-markdown")
        controller.open()
        if distributed.distributes(config):
            register(distributed.Distribution(config, controller), "lendbench-distribution")
        else:
            register(Worker(config), "lendbench-worker")
    if not distributed.distributes(config):
        register(fixtures, "lendbench-fixtures")
        register(markers.MarkerGuard(suite), "lendbench-markers")
