"""Node and the packages, found or provided on first use."""

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_lendbench.bench import cache, layout
from pytest_lendbench.bench.process import run_bounded
from pytest_lendbench.rules.errors import InstrumentError

NODES = "Node 20 from 20.19 on, or Node 22.13 or newer"
"""What Next, the app's tests and the analyzer all run on. On others react-doctor leaves out its lint."""
_INSTALL_S = 1200.0
_INSTALL_OUTPUT = 10_000_000
_WHOSE = {"app": "the app", "tools": "the grader", "variants": "the variants"}


@dataclass(frozen=True)
class Toolchain:
    """What every grading uses and none may write to.

    Attributes:
        node: The Node program.
        node_version: Its version, such as `20.20.2`.
        node_modules: The app's packages.
        tools: The grader's own packages, a `node_modules` too: esbuild, axe-core, react-doctor, typescript.
        key: Names this combination of Node, platform and packages.
    """

    node: Path
    node_version: str
    node_modules: Path
    tools: Path
    key: str

    def version(self, package: str) -> str:
        """The version of one of the app's packages."""
        return package_version(self.node_modules, package)


def provide(say: Callable[[str], None]) -> Toolchain:
    """Finds Node, and installs the packages of the app and of the grader if this machine does not have them yet.

    Raises:
        InstrumentError: There is no usable Node, or npm failed.
    """
    node, version = find_node()
    app = installed("app", layout.fixture() / "app", version, say)
    tools = installed("tools", layout.NODE_SOURCES, version, say)
    return Toolchain(node, version, app, tools, app.parent.name)


def find_node() -> tuple[Path, str]:
    """The Node program itself (not a version manager's stand-in) and its version.

    Raises:
        InstrumentError: There is none on the PATH, it does not run, or the packages do not run on it.
    """
    found = shutil.which("node")
    if found is None:
        raise InstrumentError("There is no `node` on the PATH.", f"Install {NODES}.")
    question = "process.stdout.write(process.versions.node + '\\n' + process.execPath)"
    try:
        answer = subprocess.run([found, "-e", question], capture_output=True, text=True, check=True, timeout=60)
        version, program = answer.stdout.strip().split("\n")
        numbers = tuple(int(part) for part in version.split(".")[:2])
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise InstrumentError(f"{found} does not run: {error}.", f"Install {NODES}.") from error
    if not ((20, 19) <= numbers < (21,) or numbers >= (22, 13)):
        raise InstrumentError(f"{found} is Node {version}, on which not all packages run.", f"Install {NODES}.")
    return Path(program), version


def environment(node: Path, scratch: Path) -> dict[str, str]:
    """The whole environment of a program that runs a candidate's code: nothing of ours, no home, no network chatter.

    Args:
        node: The Node program.
        scratch: An existing directory for its temporary files.
    """
    return {
        "PATH": os.pathsep.join([str(node.parent), "/usr/bin", "/bin"]),
        "HOME": "/nonexistent",
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "CI": "1",
        "NO_COLOR": "1",
        "NEXT_TELEMETRY_DISABLED": "1",
    }


def package_version(node_modules: Path, package: str) -> str:
    """The version that an installed package states."""
    return str(json.loads((node_modules / package / "package.json").read_text(encoding="utf-8"))["version"])


def digest(*contents: bytes) -> str:
    """The SHA-256 of these contents, one after the other."""
    return hashlib.sha256(b"".join(contents)).hexdigest()


def installed(name: str, source: Path, node_version: str, say: Callable[[str], None]) -> Path:
    """The `node_modules` with what the lock in `source` lists; installed if this machine does not have it yet.

    Args:
        name: What the packages are for: a key of `_WHOSE`.
        source: The folder of `package.json` and `package-lock.json`.
        node_version: From `find_node`.
        say: Takes a sentence about progress.

    Raises:
        InstrumentError: npm failed, or the cache cannot be written.
    """
    manifests = [source / "package.json", source / "package-lock.json"]
    major = node_version.partition(".")[0]
    machine = "-".join([f"node{major}", platform.system(), platform.machine(), platform.libc_ver()[0]])
    key = digest(machine.encode(), *(path.read_bytes() for path in manifests))

    def install(into: Path) -> None:
        for path in manifests:
            shutil.copyfile(path, into / path.name)
        npm = shutil.which("npm")
        if npm is None:
            raise InstrumentError("There is no `npm` on the PATH.", "Install npm; it comes with Node.")
        say(f"Installing the packages of {_WHOSE[name]} (once, up to a minute) …")
        argv = [npm, "ci", "--ignore-scripts", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"]
        done = run_bounded(argv, into, os.environ, _INSTALL_S, _INSTALL_OUTPUT)
        if done.returncode != 0:
            raise InstrumentError(
                f"`npm ci` failed: {done.fault or ''}\n{done.output.strip()[-2000:]}\n",
                "Check that this machine reaches its npm registry, then grade again.",
            )

    return cache.once(f"{name}-{key[:16]}", install, say) / "node_modules"
