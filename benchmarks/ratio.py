"""How long a grading takes, in cold builds of the same tree: `python benchmarks/ratio.py [RUNS]`.

Both are measured in one run of hyperfine, a grading with everything cached against `npm run build` with no `.next`.
Prints both medians and their ratio: 3 is the bound, 2 the aim. Needs hyperfine.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pytest_lendbench.bench.specimen import specimen
from pytest_lendbench.bench.toolchain import provide


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
        grading = ["--prepare", "true", f"{Path(sys.executable).parent}/lendbench grade {tree}"]
        subprocess.run([*hyperfine, *cold, *grading], check=True)
        build, grade = (result["median"] for result in json.loads(report.read_text())["results"])
    print(f"cold build {build:.1f} s, grading {grade:.1f} s: ratio {grade / build:.2f}")


if __name__ == "__main__":
    main()
