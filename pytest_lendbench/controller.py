"""The one process that answers for a grading: it provides the tree, collects the verdicts and concludes."""

from __future__ import annotations

import json
import shlex
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_lendbench import evidence, options, safe_start
from pytest_lendbench.bench import machine
from pytest_lendbench.bench.analysis import analyse
from pytest_lendbench.bench.ruler import ruler
from pytest_lendbench.bench.workspace import Workspace
from pytest_lendbench.progress import Progress
from pytest_lendbench.result import GradingResult, Invalid
from pytest_lendbench.rules.errors import CandidateRefused, InstrumentError, UsageProblem
from pytest_lendbench.rules.exit_status import INVALID, Status, exit_status
from pytest_lendbench.rules.ledger import Ledger
from pytest_lendbench.rules.scoring import Measures
from pytest_lendbench.suite import REWRITE
from pytest_lendbench.verdicts import Said
from pytest_lendbench.worker import EVIDENCE, PREPARED

if TYPE_CHECKING:
    from concurrent.futures import Future
    from pathlib import Path

    from pytest_lendbench.bench.analysis import Analysis
    from pytest_lendbench.bench.grading import Prepared
    from pytest_lendbench.rules.quality import Quality
    from pytest_lendbench.rules.scoring import Score
    from pytest_lendbench.suite import Suite

_SHOWN_PROBLEMS = 5
_FIXING_THE_GRADER = "This is a fault of the grader. Report it with the details below."


class Controller:
    """One grading, from its options to its result.

    Raises:
        pytest.UsageError: The options cannot be right.
    """

    def __init__(self, config: pytest.Config, suite: Suite) -> None:
        self._config = config
        self._suite = suite
        self._options = options.read(config)
        self._progress = Progress(config)
        self._started = time.monotonic()
        self._problems: list[Invalid] = []
        self._ledger: Ledger | None = None
        self._prepared: Prepared | None = None
        self._workspace: Workspace | None = None
        self._load = machine.Load()
        self._ruler: dict[str, str] | None = None
        self._analysis: Future[Analysis] | None = None
        self._quality: Quality | None = None
        self._checks_started: float | None = None
        self._interrupted = False
        self._done: set[str] = set()
        self._lost: set[str] = set()

    @property
    def blocked(self) -> bool:
        """Whether no check is to be run: the instrument failed, or the gate did."""
        return bool(self._problems) or self._prepared is None or not self._prepared.gate.passed

    @property
    def options(self) -> options.Options:
        return self._options

    def problem(self, error: InstrumentError | CandidateRefused, details: str = "") -> None:
        """Makes the grading invalid."""
        self._problems.append(Invalid(error.what, error.todo, details))

    def handover(self) -> str:
        """What a worker needs to run checks: the built tree, as `Prepared.to_json`, and the directory of evidence."""
        prepared = self._prepared.to_json() if self._prepared else None
        return json.dumps({"prepared": prepared, "evidence": str(self._options.evidence)})

    # -- before the checks

    def open(self) -> None:
        """Takes hold of what the grading needs, short of the tree itself."""
        try:
            self._workspace = Workspace()
            # pytest would leave the last three of its temporary directories behind.
            self._config.option.basetemp = self._config.option.basetemp or str(self._workspace.path / "pytest")
            self._ledger = Ledger(self._suite.read_catalog())
            self._ruler = ruler(self._suite.files)
        except InstrumentError as error:
            self.problem(error)
        if ini := safe_start.steering_ini(self._config, self._options.candidate):
            refused = CandidateRefused(
                f"pytest was configured by {ini}, a file of the candidate.",
                "Leave -c away, or use `lendbench grade PATH`.",
            )
            self.problem(refused)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Provides the tree before any worker exists."""
        self._session = session
        self._progress.say(f"grading {self._options.candidate} (track {self._options.track})")
        if not self._problems:
            self._provide()
        self._begin_analysis()
        if self._prepared is not None and not self.blocked:
            self._checks_started = time.monotonic()
            self._config.stash[PREPARED] = self._prepared
            self._config.stash[EVIDENCE] = self._options.evidence
            self._progress.say("checks")

    def _provide(self) -> None:
        try:
            self._prepared = self._config.hook.pytest_lendbench_provision(
                candidate=self._options.candidate,
                track=self._options.track,
                say=self._progress.say,
                reuse=self._options.reuse,
            )
        except (InstrumentError, CandidateRefused) as error:
            self.problem(error)
        except UsageProblem as error:
            raise pytest.UsageError(str(error)) from error
        except Exception as error:  # noqa: BLE001 (an unknown fault here is the grader's, never a traceback and exit 1)
            self._fault("The tree could not be provided", error)
        else:
            if self._prepared is None:
                self.problem(InstrumentError("No plugin has provided the tree.", "Install the grader again."))

    def _begin_analysis(self) -> None:
        """Beside the checks: it starts programs and waits for them. Where the gate failed, quality is 0 in any case."""
        if self._prepared is not None and self._prepared.sources is not None and self._may_score and not self._problems:
            sources, quality = self._prepared.sources, self._prepared.gate.passed
            analyst = ThreadPoolExecutor(1, "analysis")
            self._analysis = analyst.submit(analyse, sources, quality=quality)
            analyst.shutdown(wait=False)

    def _end_analysis(self) -> None:
        if self._prepared is None or self._analysis is None:
            return
        if not self._analysis.done():
            self._progress.say("waiting for the analysis")
        try:
            found = self._analysis.result()
        except InstrumentError as error:
            if self._stopped_by_gate:
                # What keeps a compiler from its end keeps the other one too; the total is 0 without it.
                self._progress.say(f"the exports were not compared: {error.what.splitlines()[0]}")
            else:
                self.problem(error)
        except Exception as error:  # noqa: BLE001 (whatever breaks here is the grader's: invalid, never a traceback and exit 1)
            self._fault("The sources could not be analysed", error)
        else:
            contract = self._prepared.contract.with_exports(found.exports)
            self._prepared, self._quality = replace(self._prepared, contract=contract), found.quality

    # -- while they run

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool | None:
        return True if self.blocked else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> bool | None:
        return True if self.blocked else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self) -> tuple[str, str, str] | None:
        """Keeps pytest's own dots and tracebacks out of a grading, except with -v."""
        return ("", "", "") if options.quiet(self._config) else None

    # First of all: the JUnit face takes the verdict off the report.
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._load.look()
        said = Said.of(report)
        if said is not None and self._ledger is not None:
            details = "\n".join([report.longreprtext, *(f"--- {title}\n{text}" for title, text in report.sections)])
            self._ledger.report(
                said.id,
                said.verdict,
                said.message,
                evidence=said.evidence,
                details=details,
                duration_s=report.duration,
            )
            if said.verdict in {"failed", "errored"}:
                self._lost.add(report.nodeid)
        if report.when == "teardown":
            self._done.add(report.nodeid)
            self._progress.count(len(self._done), self._session.testscollected, len(self._lost))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            what = f"{report.nodeid or 'The suite'} could not be collected."
            self.problem(InstrumentError(what, "Repair the check it names."), report.longreprtext)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        # What pytest raises to stop itself (after --maxfail, or a collection error) is a kind of KeyboardInterrupt.
        self._interrupted = excinfo.type in {KeyboardInterrupt, pytest.exit.Exception}
        if self._interrupted:
            self._progress.say("interrupted: nothing was graded")

    def pytest_internalerror(self, excrepr: object) -> None:
        self.problem(InstrumentError("pytest itself has failed.", _FIXING_THE_GRADER), str(excrepr))

    # -- after them

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Concludes, when all workers are gone. Nothing that goes wrong here may look like a low score."""
        self._progress.end()
        if self._interrupted:
            return
        try:
            self._end_analysis()
        except KeyboardInterrupt:
            session.exitstatus = pytest.ExitCode.INTERRUPTED
            self._progress.say("interrupted: nothing was graded")
            return
        try:
            self._close_workspace()
            result = self._conclude()
            sections = self._config.hook.pytest_lendbench_report(result=result)
            result = replace(result, sections=tuple(section for section in sections if section is not None))
        except Exception as error:  # noqa: BLE001
            self._fault("The grading could not be concluded", error)
            result = self._result(None, None)
        session.exitstatus = result.exit_status
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and result.status == "partial":
            session.exitstatus = exitstatus
        ran = [entry.verdict for entry in result.entries if entry.verdict != "not-run"]
        self._progress.say(f"{result.status}: {ran.count('passed')} of {len(ran)} passed")
        try:
            self._config.hook.pytest_lendbench_publish(result=result)
        except Exception:  # noqa: BLE001
            session.exitstatus = INVALID
            self._progress.say(f"The result could not be published. {_FIXING_THE_GRADER}\n{traceback.format_exc()}")

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        try:
            if self._workspace is not None:
                self._workspace.close()
        except InstrumentError as error:  # only after an interruption: else the result has said it
            self._progress.say(str(error))

    def _close_workspace(self) -> None:
        if self._workspace is not None:
            try:
                self._workspace.close()
            except InstrumentError as error:
                self.problem(error)

    def _conclude(self) -> GradingResult:
        """Judges the ledger, scores it if it is whole, and writes the evidence."""
        self._judge_ledger()
        score = written = None
        if self._ledger is not None and self._prepared is not None:
            if self._may_score and not self._problems:
                score = self._score(self._ledger, self._prepared)
            written = evidence.write(self._options.evidence, self._ledger)
        return self._result(score, written)

    @property
    def _may_score(self) -> bool:
        """Whether there can be a total: all checks were asked for, or the gate let none of them run."""
        return self._stopped_by_gate or not options.selects(self._config)

    @property
    def _stopped_by_gate(self) -> bool:
        return self._prepared is not None and not self._prepared.gate.passed

    def _judge_ledger(self) -> None:
        """A check that could not be run to its end makes the grading invalid; so does one that never reported."""
        if self._ledger is None or self._problems or self._stopped_by_gate:
            return
        for entry in self._ledger.with_verdict("errored"):
            what = f"{entry.spec.id} could not be run to its end: {entry.message.splitlines()[0]}"
            self.problem(InstrumentError(what, "Read its evidence, repair the grader or the machine, and grade again."))
        if missing := self._ledger.with_verdict("not-run"):
            if options.selects(self._config):
                return
            names = ", ".join(entry.spec.id for entry in missing)
            self.problem(InstrumentError(f"Never reported: {names}.", f"If a check was taken out: {REWRITE}"))

    def _score(self, ledger: Ledger, prepared: Prepared) -> Score:
        measures = Measures(
            gate_passed=prepared.gate.passed,
            violated_classes=len(prepared.contract.violated_classes),
            closeout=prepared.closeout.share if prepared.closeout else None,
            penalty=self._quality.penalty if self._quality else None,
        )
        score: Score | None = self._config.hook.pytest_lendbench_score(ledger=ledger, measures=measures)
        if score is None:
            raise InstrumentError("No plugin has scored the verdicts.", "Install the grader again.")
        return score

    def _result(self, score: Score | None, written: Path | None) -> GradingResult:
        status: Status = "invalid" if self._problems else "scored" if score else "partial"
        entries = tuple(self._ledger) if self._ledger is not None else ()
        total = score.total if score else None
        return GradingResult(
            status=status,
            exit_status=exit_status(status, total, self._options.min_score, entries),
            candidate=self._options.candidate,
            track=self._options.track,
            score=score,
            min_score=self._options.min_score,
            invalid=_summary(self._problems) if self._problems else None,
            entries=entries,
            prepared=self._prepared,
            quality=self._quality,
            catalog_sha256=self._ledger.catalog.sha256 if self._ledger is not None else None,
            timings=self._timings(),
            provenance=self._provenance(),
            evidence=written,
        )

    def _provenance(self) -> dict[str, Any]:
        words = [str(word) for word in self._config.invocation_params.args]
        return {
            **(self._prepared.provenance if self._prepared else {}),
            "machine": machine.facts(),
            "load": self._load.told(),
            "command": shlex.join(["pytest", *words]),
            "ruler": self._ruler,
        }

    def _timings(self) -> dict[str, float]:
        now = time.monotonic()
        before = dict(self._prepared.timings) if self._prepared else {}
        checks = {"checks": now - self._checks_started} if self._checks_started is not None else {}
        return {**before, **checks, "total": now - self._started}

    def _fault(self, what: str, error: Exception) -> None:
        if isinstance(error, InstrumentError):
            self.problem(error)
        else:
            named = InstrumentError(f"{what}: {type(error).__name__}: {error}", _FIXING_THE_GRADER)
            self.problem(named, traceback.format_exc())


def _summary(problems: list[Invalid]) -> Invalid:
    """All problems in one: the first says what to do."""
    whats = list(dict.fromkeys(problem.what for problem in problems))
    more = len(whats) - _SHOWN_PROBLEMS
    shown = [*whats[:_SHOWN_PROBLEMS], *([f"And {more} more."] if more > 0 else [])]
    details = "\n".join(problem.details for problem in problems if problem.details)
    return Invalid("\n".join(shown), problems[0].todo, details)
