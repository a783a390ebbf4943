"""The contract: which differences between a candidate and the fixture are allowed, and which are not."""

import fnmatch
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

Finding = tuple[str, str]
"""A path and, in one sentence, what is wrong with it."""

FREE = (
    "next-env.d.ts",  # written by the toolchain
    "*.tsbuildinfo",
    ".DS_Store",  # left behind by editors and file managers
    "Thumbs.db",
    "*.swp",
    "*.swo",
    "*~",
    "npm-debug.log*",
)
"""Names of files that may come, change and go, wherever they are."""

FREE_FOLDERS = ("coverage", "test-results", "playwright-report", "blob-report", ".vitest", ".swc")
"""Top-level folders for the output of tests and tools, free with all they hold."""

_IMPORT = re.compile(
    r"""(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\()\s*(["'])(?P<specifier>[^"'\n]+)\1""",
)
_ENDINGS = ("", ".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".json", ".css", "/index.ts", "/index.tsx", "/index.js")


LABELS = {"added": "added file", "protected": "protected file", "exports": "export", "left_out_imports": "import"}
"""What the lists of `ContractFindings` are about, in words."""


@dataclass(frozen=True)
class ContractFindings:
    """What breaks the contract, each list sorted by path.

    Attributes:
        added: Files that neither the fixture nor the writable set has. They do not reach the graded tree.
        protected: Protected files that were changed or deleted. The fixture's own stand in for them.
        exports: Writable files whose public exports are not what the fixture fixes, deleted ones among them.
        left_out_imports: Imports of an added file by a writable file. No violation of its own: the reason for
            the failures that follow.
        exports_compared: Whether the compiler has compared the exports. Without it only deleted files are known.
    """

    added: tuple[Finding, ...] = ()
    protected: tuple[Finding, ...] = ()
    exports: tuple[Finding, ...] = ()
    left_out_imports: tuple[Finding, ...] = ()
    exports_compared: bool = False

    @property
    def named(self) -> list[tuple[str, str, str]]:
        """All findings, each with what it is about in words (`LABELS`), its path and its sentence."""
        return [(label, path, why) for name, label in LABELS.items() for path, why in getattr(self, name)]

    @property
    def violated_classes(self) -> tuple[str, ...]:
        """Which of `added`, `protected`, `exports` have findings; each costs adherence once."""
        return tuple(name for name in ("added", "protected", "exports") if getattr(self, name))

    def with_exports(self, found: Iterable[Finding]) -> Self:
        """These findings and, among `exports`, those of the compiler."""
        return replace(self, exports=tuple(sorted({*self.exports, *found})), exports_compared=True)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; `from_json` reads it."""
        return {**asdict(self), "violated_classes": list(self.violated_classes)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The findings that `to_json` wrote."""
        found = {name: tuple((path, why) for path, why in data[name]) for name in LABELS}
        return cls(**found, exports_compared=data["exports_compared"])


def compare(
    candidate: Mapping[str, str],
    fixture: Mapping[str, str],
    writable: Collection[str],
    sources: Mapping[str, bytes],
) -> ContractFindings:
    """Compares a candidate with the fixture.

    Args:
        candidate: Its files: path to digest. A digest does not depend on line endings.
        fixture: The same for the fixture.
        writable: The paths that may change.
        sources: The content of the candidate's writable files.
    """
    added = [
        (path, "Added: this track lets no file be added.")
        for path in candidate
        if path not in fixture and path not in writable and not is_free(path)
    ]
    protected = [
        (path, "Protected, but changed." if path in candidate else "Protected, but deleted.")
        for path, digest in fixture.items()
        if path not in writable and not is_free(path) and candidate.get(path) != digest
    ]
    exports = [
        (path, "Deleted: what it exports is gone; the app's own file stands in for it.")
        for path in writable
        if path in fixture and path not in candidate
    ]
    left_out = {path for path, _ in added}
    imports = [
        (path, f"It imports {target}, which was left out: it does not belong to the writable files.")
        for path, content in sources.items()
        for target in imported(path, content.decode("utf-8", "replace"), left_out)
    ]
    added, protected, exports, imports = map(sorted, (added, protected, exports, imports))
    return ContractFindings(tuple(added), tuple(protected), tuple(exports), tuple(imports))


def is_free(path: str) -> bool:
    """Whether the file may come, change and go without being a finding."""
    folder, _, name = path.rpartition("/")
    return folder.split("/")[0] in FREE_FOLDERS or any(fnmatch.fnmatchcase(name, pattern) for pattern in FREE)


def imported(path: str, source: str, among: Collection[str]) -> Iterator[str]:
    """The files of `among` that a module imports, by relative path or by `@/`. Each once, in order of mention."""
    seen = set()
    for match in _IMPORT.finditer(source):
        specifier = match["specifier"]
        if specifier.startswith("@/"):
            base = "src/" + specifier[2:]
        elif specifier.startswith("."):
            base = posixpath.normpath(posixpath.join(posixpath.dirname(path), specifier))
        else:
            continue
        stem = re.sub(r"\.[cm]?jsx?$", "", base)
        for target in (base, *(stem + ending for ending in _ENDINGS)):
            if target in among and target not in seen:
                seen.add(target)
                yield target
                break
