"""A grading's own directory: nothing of it is left, whatever a candidate has put there."""

import os
from pathlib import Path

from pytest_lendbench.bench.workspace import Workspace


def test_a_deep_and_locked_tree_is_removed():
    workspace = Workspace()
    here = Path.cwd()
    try:
        os.chdir(workspace.path)
        for _ in range(1500):
            Path("a").mkdir()
            os.chdir("a")
        Path().chmod(0o500)
    finally:
        os.chdir(here)
    workspace.close()
    workspace.close()
    assert not workspace.path.exists()
