"""Attacks on the verdict by the candidate's own code, when it is built and when it runs.

Each is the reference with something real broken in it and an attack beside that. What is broken must still fail.
`docs/threat-model.md` says which attacks there are, and which of them only a container stops.
"""

import json
import re
import secrets
from pathlib import Path

import platformdirs
import psutil
import pytest
from attacking import STATUS, attacker, grade

from pytest_lendbench.bench import confine, process

PAGE = "src/app/items/page.tsx"
HEADING = '<Page title="Items" lead'
EVERYBODYS = Path("/var/tmp")  # noqa: S108 (an attack may not write there)


def living(token):
    """The processes that have this token among their arguments."""
    return [one for one in psutil.process_iter(["cmdline"]) if token in (one.info["cmdline"] or [])]


EVERYTHING = r"""
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";

const TOKEN = "@TOKEN@";
const PATHS = @PATHS@;
const BUILDING = process.env.NEXT_PHASE === "phase-production-build";
const SERVING = !BUILDING && process.argv.includes("start");

const FORGED = [
  '{"schema": 1, "status": "scored", "exit_status": 0, "total": 100.0}',
  "  scored: 156 of 156 passed",
  "[gw0] [100%] PASSED checks/test_c_catalogue.py::test_the_catalogue_has_its_title_and_one_heading",
  '{"value": "Available"}',
  '<testsuites><testsuite name="pytest" errors="0" failures="0" tests="156"/></testsuites>',
  "\u001b[2J\u001b[1;1Htotal  100.0 of 100",
].join("\n") + "\n";

function everything() {
  const did = {};
  const attempt = (what, work) => {
    try {
      work();
      did[what] = "done";
    } catch (error) {
      did[what] = error.code ?? String(error);
    }
  };
  attempt("print", () => {
    for (const fd of [1, 2]) fs.writeSync(fd, FORGED);
  });
  for (const [name, path] of Object.entries(PATHS)) attempt(name, () => fs.writeFileSync(path, FORGED));
  attempt("the output of its parent", () => fs.writeFileSync(`/proc/${process.ppid}/fd/1`, FORGED));
  attempt("leave", () => {
    for (const command of [["sleep", TOKEN], ["setsid", "sleep", TOKEN], ["nohup", "sleep", TOKEN]]) {
      spawn(command[0], command.slice(1), { detached: true, stdio: "ignore", cwd: "/" }).on("error", () => {}).unref();
    }
  });
  attempt("giant", () => {
    const fd = fs.openSync(SERVING || BUILDING ? ".next/giant" : "giant", "w");
    fs.ftruncateSync(fd, 20_000_000_000);
  });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
  process.on("exit", () => {
    for (;;);
  });
  if (BUILDING) {
    fs.writeFileSync(".next/said-by-the-build.json", JSON.stringify(did));
    return did;
  }
  attempt("kill", () => process.kill(process.ppid, "SIGKILL"));
  if (!SERVING) return did;
  attempt("flood", () => {
    const line = Buffer.alloc(1_000_000, "flood\n");
    for (let n = 0; n < 100; n += 1) for (let rest = line; rest.length > 0; ) rest = rest.subarray(written(rest));
  });
  attempt("squat", () => {
    for (let n = 0; n < 50; n += 1) net.createServer((socket) => socket.end(FORGED)).listen(0, "127.0.0.1").unref();
  });
  return did;
}

function written(bytes) {
  try {
    return fs.writeSync(1, bytes);
  } catch (error) {
    if (error.code === "EAGAIN") return 0;
    throw error;
  }
}

globalThis.did ??= everything();

export function said() {
  const build = BUILDING || !SERVING ? null : JSON.parse(fs.readFileSync(".next/said-by-the-build.json", "utf8"));
  return JSON.stringify({ build, run: globalThis.did });
}
"""


@pytest.fixture(scope="class")
def token():
    """A number that the attacker's processes carry as an argument of `sleep`, and its files in their names."""
    return str(100_000_000 + secrets.randbelow(100_000_000))


@pytest.fixture(scope="class")
def targets(tmp_path_factory, token):
    """Where an attacker who knows everything about this grading would write."""
    folder = tmp_path_factory.mktemp("grading")
    cache = platformdirs.user_cache_path("lendbench", ensure_exists=True)
    places = {
        "the sources": "src/items/status.ts",
        "another file of the tree": f"src/{token}",
        "beside the tree": f"../{token}",
        "another tree": f"../../{token}",
        "the packages": f"node_modules/{token}",
        "the cache": str(cache / token),
        "the working directory": str(folder / token),
        "the report": str(folder / "score.json"),
        "the evidence": str(folder / "lendbench-evidence"),
        "the grader": str(Path(process.__file__).with_name(f"{token}.py")),
        "the home": str(Path.home() / f".{token}"),
        "for all": str(EVERYBODYS / token),
    }
    yield folder, places
    for place in (cache, Path.home(), EVERYBODYS, Path(process.__file__).parent):  # where an attack works
        for path in (*place.glob(f"*{token}*"), *place.glob(f"*/node_modules/{token}")):
            path.unlink()


@pytest.fixture(scope="class")
def graded(targets, token):
    folder, places = targets
    top = EVERYTHING.replace("@TOKEN@", token).replace("@PATHS@", json.dumps(places))
    broken = {
        STATUS: {'overdue: "Overdue"': "get overdue() { return said(); }"},
        PAGE: {HEADING: "<Page title={`Items ${said()}`} lead", "statusLabel }": "said, statusLabel }"},
    }
    with attacker(broken, top) as tree:
        return grade(tree, folder)


@pytest.fixture(scope="class")
def said(graded):
    """What became of each attempt, as the attacker itself tells it: `done`, or the system's word for its refusal."""
    heard = json.loads(re.search(r'Items (\{"build".*\}\})', graded.message("C.heading"))[1])
    in_bridge = json.loads(re.search(r"'overdue': '(\{\"build\".*?\}\})'", graded.message("A.labels"))[1])
    return {"build": heard["build"], "server": heard["run"], "bridge": in_bridge["run"]}


class TestEverythingAtOnce:
    """One tree that tries all that does not hide the rest: when it is built, in the server, and in the unit bridge."""

    def test_what_is_broken_fails_and_the_rest_passes(self, graded):
        assert (graded.status, graded.exit_status) == ("partial", 1), graded.output
        assert graded.ids("failed") == {"C.heading", "A.labels"}
        assert graded.ids("passed") == {"C.search-literal", "A.due-text"}

    @pytest.mark.parametrize("where", ["build", "server", "bridge"])
    def test_it_has_tried(self, said, where):
        assert {"print", "leave", "giant"} <= said[where].keys()
        assert said[where]["print"] == "done"

    def test_what_it_prints_is_no_verdict(self, graded):
        assert "2 of 4 selected checks passed" in graded.output
        for forged in ("156", "100.0", "testsuites", "gw0", "\x1b"):
            assert forged not in graded.output

    def test_a_flood_of_output_is_kept_short(self, graded, said):
        assert said["server"]["flood"] == "done"
        assert len(json.dumps(graded.report)) < 1_000_000

    @pytest.mark.skipif(not confine.version(), reason="this machine cannot confine a program")
    @pytest.mark.parametrize("where", ["build", "server", "bridge"])
    def test_it_writes_nowhere_but_in_its_own_tree(self, said, targets, where):
        reached = {name for name in targets[1] if said[where][name] == "done"}
        assert reached == set()

    @pytest.mark.parametrize("where", ["build", "server", "bridge"])
    def test_no_file_of_it_grows_without_end(self, said, where):
        assert said[where]["giant"] == "EFBIG"

    @pytest.mark.skipif(not (confine.version() or process._namespace()), reason="nothing is in the way here")
    @pytest.mark.parametrize("where", ["server", "bridge"])
    def test_it_cannot_kill_who_watches_it(self, said, where):
        # As process 1 of a namespace the warden does not even notice.
        assert said[where]["kill"] == ("EPERM" if confine.version() >= confine.SCOPES_SINCE else "done")

    def test_nothing_is_left(self, graded, targets, token):
        folder, _ = targets
        assert graded.left == []
        assert living(token) == []
        assert {path.name for path in folder.iterdir()} == {"temporary", "score.json", "lendbench-evidence"}


AT_BUILD = """
import { spawn } from "node:child_process";
import * as fs from "node:fs";
if (process.env.NEXT_PHASE === "phase-production-build") {
  @ATTACK@
}
"""


@pytest.mark.parametrize(
    ("attack", "outcome"),
    [
        pytest.param(
            "for (let n = 0; n < 200; n += 1) fs.writeSync(1, Buffer.alloc(1_000_000, 46));",
            ("scored", 1, "It wrote more than 10,000,000 bytes of output."),
            id="flood",
        ),
        pytest.param('process.kill(process.ppid, "SIGKILL");', ("invalid", 10, "killed from outside"), id="kill"),
        pytest.param("process.exit(0);", ("scored", 1, ""), id="exit"),
        pytest.param(
            'for (let n = 0; n < 900; n += 1) spawn("sleep", ["@TOKEN@"], { detached: true }).unref();',
            ("scored", 1, "It had more than 200 processes at a time."),
            id="processes",
        ),
    ],
)
def test_a_build_that_is_attacked_is_no_build(tmp_path, token, attack, outcome):
    with attacker({}, AT_BUILD.replace("@ATTACK@", attack).replace("@TOKEN@", token)) as tree:
        graded = grade(tree, tmp_path)
    status, exit_status, words = outcome
    assert (graded.status, graded.exit_status) == (status, exit_status), graded.output
    assert words in (graded.report["invalid"] or {"what": graded.report["gate"]["output"]})["what"]
    assert graded.ids("passed") == set()
    assert graded.left == []
    assert living(token) == []


FORGER = """
import * as fs from "node:fs";

/** The descriptors of Unix sockets: one of them is the grader's. */
function sockets() {
  const ours = new Set(fs.readFileSync("/proc/self/net/unix", "utf8").match(/(?<= )\\d+(?= *$)/gm));
  return fs.readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return ours.has(/socket:\\[(\\d+)\\]/.exec(fs.readlinkSync(`/proc/self/fd/${fd}`))?.[1]);
    } catch {
      return false;
    }
  });
}

export function forge() {
  const messages = [
    { run: 1, name: "loans.create", args: { itemId: "it-1", memberId: "mb-1", dueOn: "2031-11-12" }, request: null },
    ...Array.from({ length: 100 }, (_, n) => ({ settled: n, written: [] })),
    { verdict: "passed" },
  ];
  for (const fd of sockets()) fs.writeSync(Number(fd), messages.map((one) => JSON.stringify(one) + "\\n").join(""));
}
"""


def test_who_writes_into_the_stores_connection_fails_with_the_reason(tmp_path):
    visit = {"const [all, openLoans]": "forge();\n  const [all, openLoans]", "statusLabel }": "forge, statusLabel }"}
    with attacker({PAGE: visit}, FORGER) as tree:
        graded = grade(tree, tmp_path)
    assert (graded.status, graded.exit_status) == ("partial", 1), graded.output
    assert graded.ids("failed") == {"C.heading", "C.search-literal"}
    assert graded.ids("passed") == {"A.labels", "A.due-text"}
    assert "wrote into the grader's own connection" in graded.message("C.search-literal")
    assert graded.left == []


DISGUISE = """
import { AsyncLocalStorage } from "node:async_hooks";
import { headers } from "next/headers";

/** Whether something of the grader's shows: then it would behave. */
export async function isWatched() {
  const names = [...(await headers()).keys(), ...Object.keys(process.env)];
  return names.some((name) => name.toLowerCase().includes("lendbench"));
}

const outside = AsyncLocalStorage.snapshot();

/** Asks where no request is, and tells of nothing that it asks. */
export function unseen<T>(work: () => Promise<T>): Promise<T> {
  const { stringify } = JSON;
  JSON.stringify = (value, ...rest) => stringify(value?.run ? { settled: 0, written: [] } : value, ...rest);
  globalThis.setImmediate = (work) => setTimeout(work, 0);
  process.getActiveResourcesInfo = () => [];
  process.kill = () => true;
  Date.now = () => 0;
  try {
    return outside(work);
  } finally {
    JSON.stringify = stringify;
  }
}
"""


def test_what_is_hidden_from_the_grader_is_seen(tmp_path):
    """One read for each item on loan, made outside of its request, by a page that behaves when it is watched."""
    one_by_one = """const [all, openLoans] = (await isWatched())
    ? await Promise.all([items.list(), loans.list({ open: true })])
    : await unseen(async () => {
        const found = await loans.list({ open: true });
        const lent = await Promise.all(found.map((loan) => items.get(loan.itemId)));
        return [lent.filter((item) => item !== null), found] as const;
      });
"""
    reads = "const [all, openLoans] = await Promise.all([items.list(), loans.list({ open: true })]);\n"
    visit = {reads: one_by_one, "statusLabel }": "isWatched, statusLabel, unseen }"}
    with attacker({PAGE: visit}, DISGUISE) as tree:
        graded = grade(tree, tmp_path, "C.few-reads or C.parallel-reads or C.heading")
    assert (graded.status, graded.exit_status) == ("partial", 1), graded.output
    assert graded.ids("failed") == {"C.few-reads", "C.parallel-reads"}
    assert graded.ids("passed") == {"C.heading"}
    assert graded.left == []


def test_an_axe_of_the_pages_own_is_not_asked(tmp_path):
    fake = "window.axe = { run: async () => ({ violations: [] }) }; window.module = { exports: window.axe };"
    filters = "<FilterForm filters={filters} categories={categories} />"
    both = f'{filters}\n      <img src="data:," />\n      <script dangerouslySetInnerHTML={{{{ __html: `{fake}` }}}} />'
    with attacker({PAGE: {filters: both}}, "export {};") as tree:
        graded = grade(tree, tmp_path, "P.axe-clean or C.heading")
    assert graded.ids("failed") == {"P.axe-clean"}, graded.output
    assert "image-alt" in graded.message("P.axe-clean")
    assert graded.ids("passed") == {"C.heading"}


SILENCES = {
    # The server is up, and Next waits for ever before it answers.
    "start": r"""
import * as fs from "node:fs";
if (process.env.NEXT_PHASE === "phase-production-build")
  fs.writeFileSync(".next/server/instrumentation.js", "exports.register = () => new Promise(() => {});");
""",
    # To the grader's preload the request is over, and nobody gets an answer.
    "answer": r"""
import { subscribe } from "node:diagnostics_channel";
if (process.argv.includes("start"))
  subscribe("http.server.request.start", ({ request, response }: any) => {
    if (!request.url.startsWith("/items")) return;
    response.write = response.end = () => true;
    setTimeout(() => response.emit("close"), 50);
  });
""",
}


@pytest.mark.parametrize("kept", SILENCES)
def test_what_is_never_said_is_not_waited_for(tmp_path, kept):
    with attacker({}, SILENCES[kept]) as tree:
        graded = grade(tree, tmp_path, "C.search-literal or A.labels")
    # On a machine that is starved at that moment it is no verdict.
    assert graded.ids("failed") | graded.ids("errored") == {"C.search-literal"}, graded.output
    assert "no answer, and nothing runs any more" in graded.message("C.search-literal")
    assert graded.ids("passed") == {"A.labels"}
    assert graded.left == []
