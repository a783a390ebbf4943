"""Whose fault it is: the three errors that decide between `invalid` and a failed check."""


class _Explained(Exception):  # noqa: N818 (the words of DESIGN.md: a refusal and a fault are no errors of ours)
    """An error that says what happened and what to do about it."""

    def __init__(self, what: str, todo: str) -> None:
        super().__init__(what, todo)
        self.what = what
        self.todo = todo

    def __str__(self) -> str:
        return f"{self.what} {self.todo}"


class InstrumentError(_Explained):
    """The grader or its machine failed. The grading is `invalid`; it is never a low score."""


class CandidateRefused(_Explained):
    """The tree may not be graded (symlinks, unreadable parts, limits). The grading is `invalid`."""


class CandidateFault(Exception):  # noqa: N818
    """Proven to be the candidate's doing: its server hung, exited or answered garbage. The check fails."""


class UsageProblem(ValueError):  # noqa: N818
    """What was asked for makes no sense: no such path, a file, another project's tree. Nothing is graded."""
