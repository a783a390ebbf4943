"""Which checks a grading runs: a suite of them and the catalog that says how many there are."""

from dataclasses import dataclass
from pathlib import Path

from pytest_lendbench.bench import layout
from pytest_lendbench.rules.catalog import Catalog
from pytest_lendbench.rules.checks import CheckError
from pytest_lendbench.rules.errors import InstrumentError

GRADING_INI = Path(__file__).with_name("grading.ini")
"""The pytest configuration of a grading that is started by `lendbench grade` or has started over."""

REWRITE = "Run `lendbench checks --write` and commit the catalog."


@dataclass(frozen=True)
class Suite:
    """Where the checks of a grading are.

    Attributes:
        root: The directory of everything else; pytest's rootdir and the highest directory whose `conftest.py` counts.
        paths: The directories of checks and probes.
        catalog: The catalog file.
        spec: The spec whose sentences the checks cite.
    """

    root: Path
    paths: tuple[Path, ...]
    catalog: Path
    spec: Path

    @property
    def files(self) -> tuple[Path, ...]:
        """Files and folders that say what is checked."""
        shared = self.root / "conftest.py"
        return (*self.paths, self.catalog, *([shared] if shared.exists() else []))

    def read_catalog(self) -> Catalog:
        """The catalog of this suite.

        Raises:
            InstrumentError: There is none, or it is broken.
        """
        try:
            return Catalog.from_text(self.catalog.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, CheckError) as error:
            raise InstrumentError(f"The catalog {self.catalog} cannot be used: {error}", REWRITE) from error

    def read_spec(self) -> str:
        """The spec's text.

        Raises:
            InstrumentError: It cannot be read.
        """
        try:
            return self.spec.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InstrumentError(
                f"The spec {self.spec} cannot be read: {error}", "Install the grader again."
            ) from error


def default_suite() -> Suite:
    """The suite of this project, from the checkout or the wheel.

    Raises:
        InstrumentError: The installation is not whole.
    """
    root = layout.suite_root()
    return Suite(
        root=root,
        paths=(root / "checks", root / "probes"),
        catalog=root / "checks" / "catalog.toml",
        spec=layout.fixture() / "app" / "SPEC.md",
    )
