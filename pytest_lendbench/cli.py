"""`lendbench grade`, `lendbench checks` and `lendbench matrix`: the front door for people and CI."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

from pytest_lendbench.rules.errors import InstrumentError, UsageProblem
from pytest_lendbench.rules.exit_status import INVALID
from pytest_lendbench.suite import GRADING_INI, default_suite

if TYPE_CHECKING:
    from collections.abc import Sequence

_GRADE = """\
Grades the tree at PATH; without PATH, the reference. Runs pytest on the checks: all arguments after PATH are pytest's
(`pytest --help` lists them), such as

  --score-json=FILE   write the result as JSON
  --score-html=FILE   write the result as a page to read
  --min-score=N       exit with 0 exactly if the total is at least N
  -k C.parallel-reads only the checks whose ids match; there is no total then
  -v                  pytest's own output as well

Exit status: 0 good, 1 not good, 10 invalid; 2 to 6 are pytest's own, and nothing was graded.
"""


_INTERRUPTED, _USAGE = 2, 4
"""As pytest's own, which it may not have been imported to say."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command of the command line, `sys.argv` by default, and returns its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(prog="lendbench", description="Grades trees of the Lending Desk app.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "grade",
        help="grade a tree",
        usage="lendbench grade [PATH] [pytest arguments …]",
        description=_GRADE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    checks = commands.add_parser("checks", help="list the checks")
    checks.add_argument("--write", action="store_true", help="write the catalog anew, from the markers on the checks")
    matrix = commands.add_parser("matrix", help="prove the checks on all trees of the fixture")
    matrix.add_argument("ids", nargs="*", help="only these trees")
    matrix.add_argument("--full", action="store_true", help="try every check on every defect")
    matrix.add_argument("--sample", type=int, metavar="N", help="only N of the defects")
    try:
        if words[:1] == ["grade"] and not {"-h", "--help"} & set(words):
            return _grade(words[1:])
        options = parser.parse_args(words)
        if options.command == "matrix":
            return _prove(options.ids, full=options.full, sample=options.sample)
        return _write() if options.write else _list()
    except InstrumentError as error:
        print(error, file=sys.stderr)
        return INVALID
    except UsageProblem as error:
        print(error, file=sys.stderr)
        return _USAGE
    except KeyboardInterrupt:
        return _INTERRUPTED


def _grade(words: list[str]) -> int:
    # Imported here: the list of checks must not wait for it.
    import pytest  # noqa: PLC0415

    from pytest_lendbench.bench.specimen import specimen  # noqa: PLC0415

    named = bool(words) and not words[0].startswith("-")
    ours = ["-c", str(GRADING_INI), f"--rootdir={default_suite().root}"]
    with nullcontext(words[0]) if named else specimen("reference") as tree:
        return int(pytest.main([*ours, f"--candidate={tree}", *words[named:]]))


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


def _say(line: str) -> None:
    print(line, flush=True)


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


if __name__ == "__main__":
    sys.exit(main())
