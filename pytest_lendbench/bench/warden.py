"""Runs one program and lets nothing of it survive. Started by `process.spawn` as a script; never imported.

    warden.py STATUS_FD MAX_PROCESSES KEEP_FDS RULES_FD PROGRAM [ARGUMENT …]

Standard input is the lifeline: it ends when the owner lets go of it or dies, and then everything ends. The program's
exit is passed on as our own (128 + n after signal n). STATUS_FD gets one word, `processes`, if there were too many.
RULES_FD, if it is not empty, says where the program may write (`confine.py`).
As process 1 of a PID namespace (where that works) the kernel ends what we leave; elsewhere we adopt it and hunt it.
"""

import contextlib
import ctypes
import functools
import os
import resource
import select
import signal
import subprocess
import sys

import psutil

PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
LANDLOCK_RESTRICT_SELF = 446
COUNT_EVERY_S = 0.05
MAX_TASKS = 4096
MAX_FILE = 1_000_000_000
MARK = "LENDBENCH_MARK"
Program = subprocess.Popen[bytes]


def take_office() -> None:
    """Gets us what we need to stay in charge of a program that does its worst. What is not permitted is left."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        with contextlib.suppress(OSError):  # among ten thousand busy processes an ordinary one gets no turn
            os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError):  # somebody has set a lower one
        resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE, MAX_FILE))
    if os.getpid() == 1 and os.geteuid() != 0:  # in a user namespace of its own the limit counts only our tasks
        resource.setrlimit(resource.RLIMIT_NPROC, (MAX_TASKS, MAX_TASKS))


def confine(libc: ctypes.CDLL, rules_fd: int) -> None:
    """Takes from this process, for ever, what the rules do not allow. Runs in the program's process, before it begins.

    We ourselves stay free: so the program can neither signal us nor look into us.
    """
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.syscall(LANDLOCK_RESTRICT_SELF, rules_fd, 0):
        raise OSError(ctypes.get_errno(), "cannot be confined")


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


def signal_group(program: Program, number: int) -> None:
    """Signals all that have stayed in the program's group, at once: none of them can fork in between."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program.pid, number)


def bury(program: Program) -> None:
    """Collects the adopted children that have ended. The program's own exit is left to `Popen`."""
    for child in psutil.Process().children():
        if child.pid != program.pid and not runs(child):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child.pid, os.WNOHANG)


def watch(program: Program, limit: int, child_ended: int) -> bool:
    """Waits for the program's end or for the owner's word. `True`: it had more than `limit` processes."""
    others = len(psutil.pids())
    while program.poll() is None:
        ready, _, _ = select.select([0, child_ended], [], [], COUNT_EVERY_S)
        if 0 in ready:
            return False
        if child_ended in ready:
            os.read(child_ended, 4096)
            bury(program)
        if len(psutil.pids()) - others > limit:  # ours have grown, or others have
            signal_group(program, signal.SIGSTOP)  # counting takes a while, in which a fork bomb must not grow
            ours = len(descendants())
            if ours > limit:
                return True
            signal_group(program, signal.SIGCONT)
            others = len(psutil.pids()) - ours
    return False


def end(program: Program, child_ended: int) -> int:
    """Ends the program and all that it has started; returns its exit status."""
    if os.getpid() != 1:  # as process 1 our own end is that of all others
        signal_group(program, signal.SIGKILL)
    program.kill()
    code = program.wait()
    while os.getpid() != 1 and (living := descendants()):
        for process in living:
            with contextlib.suppress(psutil.Error):
                process.kill()
        select.select([child_ended], [], [], 0.02)
        bury(program)
    return code if code >= 0 else 128 - code


def main() -> int:
    status_fd, limit, keep = int(sys.argv[1]), int(sys.argv[2]), [int(fd) for fd in sys.argv[3].split(",") if fd]
    begin = functools.partial(confine, ctypes.CDLL(None, use_errno=True), int(sys.argv[4])) if sys.argv[4] else None
    # On Linux the mark is of no use, and the program need not see it.
    env = {name: value for name, value in os.environ.items() if name != MARK or sys.platform != "linux"}
    take_office()
    child_ended, wake_fd = os.pipe()
    for fd in (child_ended, wake_fd):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_fd, warn_on_full_buffer=False)
    try:
        program = Program(
            sys.argv[5:], stdin=subprocess.DEVNULL, env=env, pass_fds=keep, start_new_session=True, preexec_fn=begin
        )
    except (OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"{sys.argv[5]}: {error}\n")
        return 127
    for fd in keep:
        os.close(fd)
    if watch(program, limit, child_ended):
        os.write(status_fd, b"processes")
    return end(program, child_ended)


if __name__ == "__main__":
    sys.exit(main())
