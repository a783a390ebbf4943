"""How long a grading takes, in cold builds of the same tree: `python benchmarks/ratio.py [RUNS]`.

Measured in one run of hyperfine, gradings with everything cached against `npm run build` with no `.next`: one with 24
checks and 8 probes of all kinds, whose bound is 2, and one with all there are, whose bound is 3. Prints the medians and
their ratios. Needs hyperfine.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pytest_lendbench.bench.specimen import specimen
from pytest_lendbench.bench.toolchain import provide

SPINE = (
    "A.overdue or A.due-today or B.heading or B.facts or C.parallel-reads or C.search or "
    "C.status or C.order or D.history or D.facts or D.unknown or E.labels or "
    "E.error-announced or E.members or E.success or F.auth-checkout or F.auth-return or F.on-loan or "
    "F.limit or F.record or G.overdue or G.malformed or H.loading or H.read-fails or "
    "P.action-race or P.concurrent-checkout or P.concurrent-return or P.dedup-item or P.n-plus-one or P.axe-clean or "
    "P.get-is-safe or P.private-fields"
)
"""24 checks of every domain, and 8 probes, for `-k`."""


def main() -> None:
    runs = sys.argv[1] if len(sys.argv) > 1 else "5"
    toolchain = provide(print)
    with specimen("reference") as tree, tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "built"
        shutil.copytree(tree, built)
        subprocess.run(["cp", "-al", str(toolchain.node_modules), str(built / "node_modules")], check=True)
        report = Path(folder) / "times.json"
        hyperfine = ["hyperfine", "--style", "basic", "--warmup", "1", "--runs", runs, "--export-json", str(report)]
        cold = ["--prepare", f"rm -rf {built}/.next", f"npm --prefix {built} run build"]
        grade = f"{Path(sys.executable).parent}/lendbench grade {tree}"
        spine = ["--prepare", "true", f"{grade} -k '{SPINE}'"]
        whole = ["--prepare", "true", grade]
        subprocess.run([*hyperfine, *cold, *spine, *whole], check=True)
        build, some, all_ = (result["median"] for result in json.loads(report.read_text())["results"])
    print(f"cold build {build:.1f} s")
    print(f"grading with 24 checks and 8 probes {some:.1f} s: ratio {some / build:.2f}")
    print(f"grading with all {all_:.1f} s: ratio {all_ / build:.2f}")


if __name__ == "__main__":
    main()
