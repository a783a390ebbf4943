"""The front door for people and CI: `lendbench grade` and the commands around it."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_lendbench.faces import comparison, explanation, result_file
from pytest_lendbench.faces.words import width
from pytest_lendbench.rules.comparison import compare
from pytest_lendbench.rules.errors import InstrumentError, UsageProblem
from pytest_lendbench.rules.exit_status import INVALID
from pytest_lendbench.suite import GRADING_INI, default_suite
from pytest_lendbench.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_GRADE = """\
Grades the tree at PATH; without PATH, the reference. Runs pytest on the checks: all arguments after PATH are pytest's
(`pytest --help` lists them), such as

  --score-json=FILE      write the result as JSON
  --score-html=FILE      write the result as a page to read
  --score-markdown=FILE  write a summary as Markdown, for a pull request
  --min-score=N          exit with 0 exactly if the total is at least N
  -k C.parallel-reads    only the checks whose ids match; there is no total then
  -v                     pytest's own output as well

Exit status: 0 good, 1 not good, 10 invalid; 2 to 6 are pytest's own, and nothing was graded.
"""

_COMPARE = """\
Says what changed between two results that --score-json wrote: verdicts, points and findings. They must have been graded
by one version of the grader. Of partial gradings, the checks that ran in both are compared.

Exit status: 0 nothing differs, 1 something does, 4 they cannot be compared.
"""

_EXPLAIN = """\
Says all there is to know of one check: what it is worth, the sentence that it tests, its source, and the faults that it
is proven to catch.
"""

_VERIFY = """\
Grades PATH again, with the track of RESULT, and says whether verdicts, points and findings are the same. All other
arguments are pytest's.

Exit status: 0 the same, 1 not, 4 it is not the tree or not the grader of RESULT, 10 the new grading is invalid.
"""

_INTERRUPTED, _USAGE = 2, 4
"""As pytest's own, which it may not have been imported to say."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command of the command line, `sys.argv` by default, and returns its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser()
    try:
        if words[:1] == ["grade"] and not {"-h", "--help"} & set(words):
            return _grade(words[1:])
        options, rest = parser.parse_known_args(words)
        if rest and options.command != "verify":
            parser.error(f"unrecognized arguments: {' '.join(rest)}")
        return _COMMANDS[options.command](options, rest)
    except InstrumentError as error:
        print(plain(str(error)), file=sys.stderr)
        return INVALID
    except UsageProblem as error:
        print(plain(str(error)), file=sys.stderr)
        return _USAGE
    except KeyboardInterrupt:
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lendbench", description="Grades trees of the Lending Desk app.")
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, short: str, long: str = "", usage: str | None = None) -> argparse.ArgumentParser:
        shape = argparse.RawDescriptionHelpFormatter
        return commands.add_parser(name, help=short, usage=usage, description=long or None, formatter_class=shape)

    command("grade", "grade a tree", _GRADE, "lendbench grade [PATH] [pytest arguments …]")
    two = command("compare", "what changed between two results", _COMPARE)
    two.add_argument("before", metavar="A.json")
    two.add_argument("after", metavar="B.json")
    verify = command(
        "verify",
        "grade a tree again and compare",
        _VERIFY,
        "lendbench verify RESULT --candidate PATH [pytest arguments …]",
    )
    verify.add_argument("result", metavar="RESULT")
    verify.add_argument("--candidate", metavar="PATH", required=True, type=Path)
    explained = command("explain", "all about one check", _EXPLAIN)
    explained.add_argument("id", metavar="ID", help="such as C.parallel-reads")
    explained.add_argument("--result", metavar="FILE", help="say its verdict in this result too")
    checks = command("checks", "list the checks")
    checks.add_argument("--write", action="store_true", help="write the catalog anew, from the markers on the checks")
    matrix = command("matrix", "prove the checks on all trees of the fixture")
    matrix.add_argument("ids", nargs="*", help="only these trees")
    matrix.add_argument("--full", action="store_true", help="try every check on every defect")
    matrix.add_argument("--sample", type=int, metavar="N", help="only N defects, and what the last commit touched")
    command("baseline", "write the baseline of the analysis anew, from the reference")
    return parser


def _grade(words: list[str]) -> int:
    # Imported here: the list of checks must not wait for it.
    import pytest  # noqa: PLC0415

    from pytest_lendbench.bench.specimen import specimen  # noqa: PLC0415

    named = bool(words) and not words[0].startswith("-")
    with nullcontext(words[0]) if named else specimen("reference") as tree:
        return int(pytest.main([*_ours(), f"--candidate={tree}", *words[named:]]))


def _ours() -> list[str]:
    """The arguments by which nothing but the grader configures pytest."""
    return ["-c", str(GRADING_INI), f"--rootdir={default_suite().root}"]


def _compare(options: argparse.Namespace, _: Sequence[str]) -> int:
    before, after = (result_file.read(file)[1] for file in (options.before, options.after))
    found = compare(before, after)
    _print(comparison.render(found, width()))
    return 0 if found.agree else 1


def _verify(options: argparse.Namespace, rest: Sequence[str]) -> int:
    # As above: the other commands must not wait for it.
    import pytest  # noqa: PLC0415

    from pytest_lendbench.bench.ruler import ruler  # noqa: PLC0415
    from pytest_lendbench.verification import verify  # noqa: PLC0415

    def grade(words: Sequence[str]) -> int:
        # Without its terminal: the section of a grading would hide what is asked here.
        return int(pytest.main([*_ours(), "-p", "no:terminal", *words, *rest]))

    candidate = Path(os.path.abspath(options.candidate))  # noqa: PTH100 (resolve() would follow links)
    # An argument of pytest's may bring another suite.
    own = None if rest else ruler(default_suite().files)
    found = verify(options.result, candidate, grade, _say, own)
    lines, result = comparison.render(found, width()), plain(options.result)
    _print([*lines, f"{result} holds."] if found.agree else [f"{result} does not hold. Before → now:", "", *lines])
    return 0 if found.agree else 1


def _explain(options: argparse.Namespace, _: Sequence[str]) -> int:
    result = result_file.read(options.result)[1] if options.result else None
    _print(explanation.explain(options.id, default_suite(), result, width()))
    return 0


def _checks(options: argparse.Namespace, _: Sequence[str]) -> int:
    return _write() if options.write else _list()


def _matrix(options: argparse.Namespace, _: Sequence[str]) -> int:
    return _prove(options.ids, full=options.full, sample=options.sample)


def _prove(ids: list[str], *, full: bool, sample: int | None) -> int:
    # As above: the list of checks must not wait for it.
    from pytest_lendbench.matrix import Matrix, write_page, wrong  # noqa: PLC0415

    root = default_suite().root
    matrix = Matrix(root / ".matrix" / ("full" if full else "quick"), full=full, say=_say)
    chosen = ids or (matrix.sample(sample) if sample is not None else [])
    outcomes = matrix.run(chosen)
    broken = wrong(outcomes, whole=not chosen, full=full)
    if not chosen:
        write_page(outcomes, root / "docs", full=full)
    print("\n".join(broken) or f"{len(outcomes)} trees: all as it should be.")
    return 1 if broken else 0


def _measure() -> int:
    # As above: the list of checks must not wait for it.
    from pytest_lendbench.bench import analysis, baseline  # noqa: PLC0415

    analysis.write_baseline(_say)
    print(f"{baseline.path()}: written")
    return 0


def _say(line: str) -> None:
    print(line, flush=True)


def _baseline(_: argparse.Namespace, __: Sequence[str]) -> int:
    return _measure()


def _print(lines: Sequence[str]) -> None:
    # Neither a terminal that cannot show a character nor a reader who has had enough (`| head`) changes what is found.
    encoding = sys.stdout.encoding or "utf-8"
    try:
        print("\n".join(lines).encode(encoding, "replace").decode(encoding), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _list() -> int:
    catalog = list(default_suite().read_catalog())
    id_width = max(len(spec.id) for spec in catalog)
    spec_width = max(len(spec.spec) for spec in catalog)
    for spec in catalog:
        tier = "-" if spec.tier is None else str(spec.tier)
        print(f"{spec.id:{id_width}}  {tier}  {spec.weight:<4g}  {spec.spec:{spec_width}}  {spec.title}")
    return 0


def _write() -> int:
    from pytest_lendbench.collecting import collect  # noqa: PLC0415

    suite = default_suite()
    catalog = collect(suite)
    suite.catalog.write_text(catalog.to_text(), "utf-8")
    print(f"{suite.catalog}: {len(catalog)} checks, probes and advisories")
    return 0


_COMMANDS: dict[str, Callable[[argparse.Namespace, Sequence[str]], int]] = {
    "compare": _compare,
    "verify": _verify,
    "explain": _explain,
    "checks": _checks,
    "matrix": _matrix,
    "baseline": _baseline,
}


if __name__ == "__main__":
    sys.exit(main())
