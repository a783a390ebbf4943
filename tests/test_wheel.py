"""The wheel, in an environment of its own, grades like the checkout."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from gradings import PERFECT, Grader

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has our wheel, and of this one everything but the checkout. No network."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = place.glob("*.whl")
    venv.create(place / "env", with_pip=False)
    python = place / "env" / "bin" / "python"
    purelib = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    # The packages beside the checkout's link to itself, which must not be found.
    borrowed = place / "borrowed"
    borrowed.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "lendbench" not in entry.name and entry.suffix != ".pth":
            (borrowed / entry.name).symlink_to(entry)
    Path(purelib, "borrowed.pth").write_text(f"{borrowed}\n")
    return place / "env" / "bin"


def test_the_suite_is_inside_the_package(installed: Path) -> None:
    program = (
        "import json, pytest_lendbench\nfrom pytest_lendbench.suite import default_suite\n"
        "suite = default_suite()\n"
        "print(json.dumps([pytest_lendbench.__file__, str(suite.root), len(suite.read_catalog()), suite.read_spec()]))"
    )
    done = subprocess.run([installed / "python", "-I", "-c", program], check=True, capture_output=True, text=True)
    package, root, count, spec = json.loads(done.stdout)
    assert Path(package).is_relative_to(installed.parent)
    assert root == str(Path(package).parent / "suite")
    assert count > 24
    assert spec.startswith("# Lending Desk")


def test_its_markers_are_its_catalog(installed: Path) -> None:
    program = (
        "from pytest_lendbench.collecting import collect\nfrom pytest_lendbench.suite import default_suite\n"
        "suite = default_suite()\nassert collect(suite) == suite.read_catalog()"
    )
    subprocess.run([installed / "python", "-I", "-c", program], check=True)


def test_its_commands_work(installed: Path, grader: Grader) -> None:
    listed = subprocess.run([installed / "lendbench", "checks"], check=True, capture_output=True, text=True).stdout
    assert "C.parallel-reads" in listed
    grader.suite()
    page = grader.path / "report.html"
    words = [f"--candidate={grader.candidate(*PERFECT)}", "-p", "lendbench_fake", f"--score-json={grader.json}"]
    words.append(f"--score-html={page}")
    done = subprocess.run(
        [installed / "python", "-Pm", "pytest", *words], cwd=grader.path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(grader.json.read_text())["total"] == 100.0
    assert "Every scored check passed." in page.read_text()


def test_nothing_of_it_lies_beside_the_package(installed: Path) -> None:
    (site,) = (installed.parent / "lib").glob("python*/site-packages")
    names = {entry.name for entry in site.iterdir()}
    assert "pytest_lendbench" in names
    assert not names & {"checks", "probes", "fixture", "tests", "conftest.py"}
    suite = site / "pytest_lendbench" / "suite"
    assert not list(suite.glob("fixture/app/node_modules")) + list(suite.glob("fixture/app/.next"))
