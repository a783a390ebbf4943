// Calls a candidate's functions and renders its components, one request at a time, for `bridge.py`.
//
//   node bridge.mjs TREE TOOLS OUT FD
//
// TREE is the clean tree, TOOLS the grader's node_modules, OUT a directory for bundles with a link `node_modules`.
// FD is a socket that nothing else writes to: one JSON object a line, in both directions.
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";

const [tree, tools, out, fd] = process.argv.slice(2);
const ours = createRequire(join(tools, "index.js"));
const theirs = createRequire(join(out, "index.js"));

process.setSourceMapsEnabled(true);

/** A failure of ours, not of the candidate. */
class BridgeError extends Error {}

async function bundle(file) {
  const outfile = join(out, `${createHash("sha256").update(file).digest("hex").slice(0, 16)}.cjs`);
  try {
    await ours("esbuild").build({
      absWorkingDir: tree,
      entryPoints: [file],
      outfile,
      bundle: true,
      platform: "node",
      format: "cjs",
      packages: "external",
      // Outside Next this package throws, whoever imports it.
      alias: { "server-only": "./node_modules/server-only/empty.js" },
      loader: { ".css": "empty" },
      sourcemap: "inline",
      logLevel: "silent",
    });
  } catch (error) {
    throw new BridgeError(`${file} could not be bundled: ${error.message}`);
  }
  return outfile;
}

const bundles = new Map();

async function exported(file, name) {
  if (!bundles.has(file)) bundles.set(file, await bundle(file));
  const module = theirs(bundles.get(file));
  if (typeof module[name] !== "function") throw new TypeError(`${file} exports no function "${name}"`);
  return module[name];
}

function revive(value) {
  if (Array.isArray(value)) return value.map(revive);
  if (typeof value !== "object" || value === null) return value;
  if (typeof value.$date === "string") return new Date(value.$date);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revive(inner)]));
}

/** The value as plain data. Throws for what is none: a function, a Map, NaN … */
function plain(value, path = "The result") {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((inner, index) => plain(inner, `${path}[${index}]`));
  if (value instanceof Date) return { $date: value.toISOString() };
  const prototype = typeof value === "object" ? Object.getPrototypeOf(value) : undefined;
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError(`${path} is no plain data: ${String(value)}`);
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries.map(([key, inner]) => [key, plain(inner, `${path}.${key}`)]));
}

const kinds = {
  call: async (target, args) => plain(await target(...args)),
  render: async (Component, [props]) => {
    const { createElement } = theirs("react");
    const { renderToStaticMarkup } = theirs("react-dom/server");
    const isAsync = Component.constructor.name === "AsyncFunction";
    return renderToStaticMarkup(isAsync ? await Component(props) : createElement(Component, props));
  },
};

function describe(error) {
  if (!(error instanceof Error)) return `It threw ${String(error)}`;
  const place = /\(?((?:\/|file:)[^()\s]*src\/[^()\s]+:\d+):\d+\)?/.exec(error.stack ?? "")?.[1];
  return `${error.name}: ${error.message}${place ? ` (${relative(tree, place.replace(/^file:\/\//, ""))})` : ""}`;
}

async function answer({ kind, file, name, args, env }) {
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    return { value: await kinds[kind](await exported(file, name), revive(args)) };
  } catch (error) {
    return error instanceof BridgeError ? { broken: error.message } : { thrown: describe(error) };
  } finally {
    for (const key of Object.keys(process.env)) if (!(key in before)) delete process.env[key];
    Object.assign(process.env, before);
  }
}

const socket = new Socket({ fd: Number(fd), readable: true, writable: true });
socket.on("close", () => process.exit());
for await (const line of createInterface({ input: socket })) {
  socket.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
