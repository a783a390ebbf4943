"""The kill matrix for readers: `docs/kill-matrix.md`, and `docs/kill-matrix.json` for programs."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_lendbench.rules.catalog import Catalog
from pytest_lendbench.rules.kills import Outcome, Tree, kills

_HEAD = """\
# Kill matrix

Made by `make matrix`; don't edit it. A check is worth something if it fails on a defect and passes on every correct
tree. Each defect is one small fault in the reference, in `fixture/defects`; a correct tree is the reference, or an
alternate that somebody wrote from the app and its spec alone, each as it is and with all variants applied at once.
"""


def to_json(outcomes: Mapping[Tree, Outcome], *, full: bool) -> str:
    """The matrix as JSON: `full`, `trees` (with what failed on each) and `kills` (by check, the defects)."""
    trees: list[dict[str, Any]] = [
        {
            "id": tree.id,
            "kind": tree.kind,
            "status": outcome.status,
            "total": outcome.total,
            "stopped_by": outcome.stopped_by,
            "failed": list(outcome.failed),
        }
        for tree, outcome in outcomes.items()
    ]
    return json.dumps({"full": full, "trees": trees, "kills": kills(outcomes)}, indent=1, ensure_ascii=False) + "\n"


def to_markdown(outcomes: Mapping[Tree, Outcome], catalog: Catalog, arises: Mapping[str, str], *, full: bool) -> str:
    """The matrix as a page.

    Args:
        outcomes: What was graded.
        catalog: The checks.
        arises: By defect: how such a fault arises.
        full: Whether every check ran on every defect, and not only those that must catch it.
    """
    killed = kills(outcomes)
    defects = [(tree, outcome) for tree, outcome in outcomes.items() if tree.kind == "defect"]
    others = [(tree, outcome) for tree, outcome in outcomes.items() if tree.kind != "defect"]
    scored = [spec for spec in catalog if spec.scored]
    asked = "every check was tried" if full else "only the checks that must catch it were tried"
    lines = [
        _HEAD,
        f"{len(scored)} checks and probes, {len(defects)} defects; on each defect {asked}.\n",
        "## Trees that are no defect\n",
        *_table(("tree", "total", "fails"), ((tree.id, str(one.total), _ids(one.failed)) for tree, one in others)),
        "\n## Checks and the defects that each catches\n",
        *_table(
            ("check", "shows", "caught"),
            ((f"`{spec.id}`", spec.title, _ids(killed.get(spec.id, []))) for spec in scored),
        ),
        "\n## Defects\n",
        *_table(
            ("defect", "how it arises", "stopped by"),
            ((f"`{t.id}`", arises[t.id], t.stopped_by or _ids(sorted(t.caught_by))) for t, _ in defects),
        ),
    ]
    return "\n".join(lines) + "\n"


def _ids(ids: Iterable[str]) -> str:
    return ", ".join(f"`{one}`" for one in ids) or "none"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [head, tuple("---" for _ in head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines]
