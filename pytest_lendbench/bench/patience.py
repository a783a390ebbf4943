"""Whose fault it is that a generous bound expired. Expiry alone never is the candidate's: the machine is measured."""

import contextlib
import os
import time
from pathlib import Path

import psutil

from pytest_lendbench.rules.errors import CandidateFault, InstrumentError

_SPIN_S = 0.05
_STARVED_RATIO = 3.0
_OWN_DOING_SHARE = 0.5
_KERNEL_COUNTS = Path("/proc/vmstat")


def blame(what: str, process: psutil.Process | None) -> CandidateFault | InstrumentError:
    """Decides who answers for `what` ("The build took more than 300 s."), a sentence that names the bound.

    Where the kernel has ended a process for want of memory, nobody knows what else would have happened (`ended`).
    Spins for 50 ms of CPU. Where that takes more than three times as long, the machine has no time to spare and the
    grader cannot judge, unless `process` and its descendants themselves use at least half of all processors.
    Returns the error; the caller raises it.
    """
    if out_of_memory():
        return ended(what)
    family = _family(process)
    used = _cpu_seconds(family)
    started, spent = time.perf_counter(), time.process_time()
    while time.process_time() - spent < _SPIN_S:
        pass
    wall = time.perf_counter() - started
    ratio = wall / (time.process_time() - spent)
    used = max(0.0, _cpu_seconds(family) - used)
    evidence = f"It used {used / wall:.1f} processors at that moment." if family else "No process of it was left."
    if ratio > _STARVED_RATIO and used / wall < _OWN_DOING_SHARE * (os.cpu_count() or 1):
        return InstrumentError(
            f"{what} But this machine is starved: {_SPIN_S * 1000:.0f} ms of work took {wall * 1000:.0f} ms.",
            "Grade again when less runs beside it, or give it more processors.",
        )
    return CandidateFault(f"{what} {evidence}")


def ended(what: str) -> CandidateFault | InstrumentError:
    """Decides who answers for a process that is gone: the machine, if its kernel ends processes for want of memory."""
    if out_of_memory():
        return InstrumentError(
            f"{what} But this machine has too little memory: its kernel has ended a process since the grading began.",
            "Grade again when less runs beside it, with `-n0` or `-n1`, or give it more memory.",
        )
    return CandidateFault(what)


def out_of_memory() -> bool:
    """Whether the kernel has ended any process for want of memory since this process began. Known on Linux only."""
    return _memory_kills() > _KILLS_BEFORE


def _memory_kills() -> int:
    try:
        counts = dict(line.split() for line in _KERNEL_COUNTS.read_text("ascii").splitlines())
    except OSError:
        return 0
    return int(counts.get("oom_kill", 0))


_KILLS_BEFORE = _memory_kills()


def _family(process: psutil.Process | None) -> list[psutil.Process]:
    if process is None:
        return []
    with contextlib.suppress(psutil.NoSuchProcess):
        return [process, *process.children(recursive=True)]
    return []


def _cpu_seconds(family: list[psutil.Process]) -> float:
    total = 0.0
    for process in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total
