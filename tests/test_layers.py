"""Each layer of ARCHITECTURE.md imports only from those above it."""

import ast
from pathlib import Path

import pytest

import pytest_lendbench

PACKAGE = Path(pytest_lendbench.__file__).parent
LAYERS = ("rules", "bench", "plugin", "faces")
COMMANDS = {"cli.py", "matrix.py", "verification.py"}


def layer(parts):
    """The number of the layer of a module, by the parts of its path in the package."""
    if parts[0] in {"rules", "bench", "faces"}:
        return LAYERS.index(parts[0])
    return LAYERS.index("faces" if f"{parts[0].removesuffix('.py')}.py" in COMMANDS else "plugin")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pytest_lendbench."):
            yield node.module.split(".")[1:]
        elif isinstance(node, ast.ImportFrom) and node.module == "pytest_lendbench":
            yield from ([one.name] for one in node.names)


MODULES = [path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"]


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_imports_from_its_own_layer_and_those_above(module):
    if module.name == "plugin.py":  # It registers the faces.
        return
    own = layer(module.parts)
    below = [".".join(parts) for parts in imported(PACKAGE / module) if layer(parts) > own]
    assert below == []
