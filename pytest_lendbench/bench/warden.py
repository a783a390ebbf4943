"""Runs one program and lets nothing of it survive. Started by `process.spawn` as a script; never imported.

    warden.py STATUS_FD MAX_PROCESSES KEEP_FDS PROGRAM [ARGUMENT …]

Standard input is the lifeline: it ends when the owner lets go of it or dies, and then everything ends. The program's
exit is passed on as our own (128 + n after signal n). STATUS_FD gets one word, `processes`, if there were too many.
As process 1 of a PID namespace (where that works) the kernel ends what we leave; elsewhere we adopt it and hunt it.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import subprocess
import sys

import psutil

PR_SET_CHILD_SUBREAPER = 36
COUNT_EVERY_S = 0.05
MAX_TASKS = 4096
MARK = "LENDBENCH_MARK"
Program = subprocess.Popen[bytes]


def take_office() -> None:
    """Gets us what we need to stay in charge of a program that does its worst. What is not permitted is left."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        with contextlib.suppress(OSError):  # among ten thousand busy processes an ordinary one gets no turn
            os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if os.getpid() == 1 and os.geteuid() != 0:  # in a user namespace of its own the limit counts only our tasks
        resource.setrlimit(resource.RLIMIT_NPROC, (MAX_TASKS, MAX_TASKS))


def runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def descendants() -> list[psutil.Process]:
    """All that the program has started and that still runs."""
    found = psutil.Process().children(recursive=True)
    if sys.platform != "linux":  # no adoption there: orphans are known by their environment
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.environ().get(MARK) == os.environ[MARK] and process.pid not in (os.getpid(), os.getppid()):
                    found.append(process)
    return [process for process in found if runs(process)]


def too_many(program: Program, limit: int, at_start: int) -> bool:
    if len(psutil.pids()) - at_start <= limit:
        return False
    if os.getpid() == 1:
        return True
    # Others may have grown. Counting ours takes a while, in which a fork bomb must not grow.
    os.killpg(program.pid, signal.SIGSTOP)
    if len(descendants()) > limit:
        return True
    os.killpg(program.pid, signal.SIGCONT)
    return False


def bury() -> None:
    """Collects the adopted children that have ended. Not while the program runs, whose own exit is for `Popen`."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def main() -> int:
    status_fd, limit, keep = int(sys.argv[1]), int(sys.argv[2]), [int(fd) for fd in sys.argv[3].split(",") if fd]
    take_office()
    child_ended, wake_fd = os.pipe()
    os.set_blocking(wake_fd, False)
    os.set_blocking(child_ended, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_fd, warn_on_full_buffer=False)
    at_start = len(psutil.pids())
    try:
        program = Program(sys.argv[4:], stdin=subprocess.DEVNULL, pass_fds=keep, start_new_session=True)
    except OSError as error:
        sys.stderr.write(f"{sys.argv[4]}: {error.strerror}\n")
        return 127
    for fd in keep:
        os.close(fd)

    while program.poll() is None:
        ready, _, _ = select.select([0, child_ended], [], [], COUNT_EVERY_S)
        if 0 in ready:
            break
        if child_ended in ready:
            os.read(child_ended, 4096)
        if too_many(program, limit, at_start):
            os.write(status_fd, b"processes")
            break

    if os.getpid() != 1:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(program.pid, signal.SIGKILL)  # the whole group at once, before it can fork again
    program.kill()
    code = program.wait()
    while os.getpid() != 1 and (living := descendants()):
        for process in living:
            with contextlib.suppress(psutil.Error):
                process.kill()
        select.select([child_ended], [], [], 0.02)
        bury()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
