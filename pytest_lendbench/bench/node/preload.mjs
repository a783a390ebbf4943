// @ts-check
// Runs in a graded server's process, beside Next, before anything of the candidate's. It owns the one connection to the
// store (a socket inherited from the grader), says which requests begin and end, gives each operation its request, and
// proves on demand that nothing in this process can run any more. One ordered stream of JSON lines in each direction.

import { AsyncLocalStorage, createHook } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import { stat } from "node:fs";
import { Server, Socket } from "node:net";

/** @typedef {import("node:http").IncomingMessage} IncomingMessage */
/** @typedef {import("node:http").ServerResponse} ServerResponse */
/** @typedef {{ resolve: (value: unknown) => void, reject: (error: Error) => void }} Waiting */
/** @typedef {{ id: number, tag: string | null, request: IncomingMessage, response: ServerResponse }} Context */

const TAG = "x-lendbench-tag";
const FETCH = "x-lendbench-fetch";

/** Timers set for less than this are part of the work under way; longer ones guard it or clean up some day. */
const SHORT_MS = 1000;

/** Resources that wait for others: what comes through them is known by other means. */
const QUIET = new Set(["PipeWrap", "TCPSocketWrap", "TCPServerWrap", "SignalWrap", "TTYWrap", "Timeout"]);

const TURNS = 3;

/** Settling takes milliseconds. When it takes longer than this, it says what it waits for. */
const EXPLAIN_AFTER_MS = 500;

// The candidate's code may put others in the place of these, for a test of its own or to hide something.
const { parse, stringify } = JSON;
const { setImmediate, setTimeout } = globalThis;
const { pid } = process;
const kill = process.kill.bind(process);
const activeResources = process.getActiveResourcesInfo.bind(process);
const now = performance.now.bind(performance);

const fd = Number(process.env.LENDBENCH_STORE_FD);
for (const name of Object.keys(process.env)) if (name.startsWith("LENDBENCH_")) delete process.env[name];

const socket = new Socket({ fd });
socket.unref();
socket.setEncoding("utf8");
// Not `process.exit`: that would run the candidate's own handlers.
socket.on("close", () => kill(pid, "SIGKILL"));
socket.on("error", () => {});

/** @param {object} message */
const send = (message) => ours(() => socket.write(`${stringify(message)}\n`));

// What runs here: every asynchronous resource that comes into being, other than our own, counts as activity.

let activity = 0;
let byUs = false;
/** @type {Set<any>} */
const timers = new Set();

/**
 * @template T
 * @param {() => T} work
 */
function ours(work) {
  const before = byUs;
  byUs = true;
  try {
    return work();
  } finally {
    byUs = before;
  }
}

createHook({
  init(_id, type, _trigger, resource) {
    if (byUs) return;
    activity += 1;
    if (type !== "Timeout") return;
    timers.add(resource);
    if (timers.size > 5000) forgetDeadTimers();
  },
}).enable();

function forgetDeadTimers() {
  for (const timer of timers) if (timer._destroyed) timers.delete(timer);
}

// Operations.

/** @type {Map<number, Waiting>} */
const waiting = new Map();
let operations = 0;

/** @type {AsyncLocalStorage<Context>} */
const current = new AsyncLocalStorage();

/**
 * @param {string} name
 * @param {unknown} args
 */
function run(name, args) {
  return new Promise((resolve, reject) => {
    operations += 1;
    waiting.set(operations, { resolve, reject });
    socket.ref();
    send({ run: operations, name, args, request: current.getStore()?.id ?? null });
  });
}
Object.defineProperty(globalThis, Symbol.for("lendbench.store"), { value: run });

/** @param {{ run: number, value?: unknown, error?: string }} answer */
function answered({ run: id, value, error }) {
  const { resolve, reject } = /** @type {Waiting} */ (waiting.get(id));
  waiting.delete(id);
  if (waiting.size === 0) socket.unref();
  if (error === undefined) resolve(value);
  else reject(new Error(error));
}

// Requests.

/** @type {Map<number, Context>} */
const open = new Map();
/** Tags of requests that have begun. @type {Set<string>} */
const arrived = new Set();
let requests = 0;

subscribe("http.server.request.start", (message) => {
  const { request, response } = /** @type {{ request: IncomingMessage, response: ServerResponse }} */ (message);
  const tag = /** @type {string | undefined} */ (request.headers[TAG]) ?? null;
  const number = /** @type {string | undefined} */ (request.headers[FETCH]) ?? "";
  delete request.headers[TAG];
  delete request.headers[FETCH];
  const id = ++requests;
  const context = { id, tag, request, response };
  current.enterWith(context);
  open.set(id, context);
  if (tag !== null) arrived.add(tag);
  mark(number, true);
  send({ start: id, tag, method: request.method, url: request.url, inner: fetches.has(number) });
  response.once("close", () => {
    open.delete(id);
    mark(number, false);
    send({ end: id, finished: response.writableFinished });
  });
});

// Requests of this server to itself belong to the request that makes them. Between its two ends such a request is
// nowhere in this process: only we know that it is on its way.

let port = 0;
let fetched = 0;
/** By number: whether it has arrived and is not answered yet. @type {Map<string, boolean>} */
const fetches = new Map();
/** By undici's request: its number. @type {WeakMap<object, string>} */
const numbers = new WeakMap();

subscribe("undici:request:create", (message) => {
  const { request } = /** @type {{ request: any }} */ (message);
  if (Number(new URL(request.origin).port) !== port) return;
  const number = String(++fetched);
  numbers.set(request, number);
  fetches.set(number, false);
  request.addHeader(FETCH, number);
  const tag = current.getStore()?.tag;
  if (tag) request.addHeader(TAG, tag);
});
for (const channel of ["undici:request:trailers", "undici:request:error"]) {
  subscribe(channel, (message) => {
    const { request } = /** @type {{ request: any }} */ (message);
    fetches.delete(numbers.get(request) ?? "");
  });
}

/**
 * @param {string} number
 * @param {boolean} here
 */
function mark(number, here) {
  if (fetches.has(number)) fetches.set(number, here);
}

// Settling.

/**
 * What may still run, other than by an answer of the store.
 * @param {readonly string[]} tags requests that are sure to come
 */
function restless(tags) {
  forgetDeadTimers();
  const found = activeResources().filter((resource) => !QUIET.has(resource));
  for (const timer of timers) {
    // An interval never ends; who waits for it waits for ever.
    if (timer.hasRef() && timer._repeat === null && timer._idleTimeout < SHORT_MS) {
      found.push(`timer of ${timer._idleTimeout} ms`);
    }
  }
  for (const tag of tags) if (!arrived.has(tag)) found.push(`request ${tag}, not here yet`);
  for (const { request } of open.values()) if (!request.complete) found.push(`body of ${request.method} ${request.url}`);
  if ([...fetches.values()].includes(false)) found.push("fetch from this server to itself");
  return found;
}

/**
 * Answers once nothing can run: seen quiet for some turns of the event loop, with one trip through the thread pool
 * between them. The pool has one thread, so the trip ends after all work that was there before it.
 * @param {{ settle: number, tags: string[] }} question
 */
function settle({ settle: id, tags }) {
  const began = now();
  let explained = "";
  let seen = activity;
  let turns = 0;
  let pooled = false;

  function look() {
    const found = restless(tags);
    if (found.length > 0 || activity !== seen) {
      const moving = activity !== seen;
      if (found.length > 0 && now() - began > EXPLAIN_AFTER_MS && `${found}` !== explained) {
        explained = `${found}`;
        send({ restless: found });
      }
      seen = activity;
      turns = 0;
      pooled = false;
      // Work that is under way goes on by itself; for the rest the processor is not ours to burn.
      ours(() => (moving ? setImmediate(look) : setTimeout(look, 1)));
    } else if (turns < TURNS) {
      turns += 1;
      ours(() => setImmediate(look));
    } else if (!pooled) {
      turns = 0;
      pooled = true;
      // The trip itself counts as a resource until its callback has returned.
      ours(() => stat("/", () => ours(() => setImmediate(look))));
    } else {
      const written = [...open.values()].map(({ id, response }) => [id, response.socket?.bytesWritten ?? 0]);
      send({ settled: id, written });
    }
  }
  look();
}

// The stream from the store.

let rest = "";
socket.on("data", (/** @type {string} */ text) => {
  const lines = (rest + text).split("\n");
  rest = /** @type {string} */ (lines.pop());
  for (const line of lines) {
    const message = parse(line);
    if ("run" in message) answered(message);
    else if ("now" in message) process.env.DESK_NOW = message.now;
    else settle(message);
  }
});

// The first server of this process is Next's.
const { listen } = Server.prototype;
Server.prototype.listen = function (/** @type {any[]} */ ...args) {
  Server.prototype.listen = listen;
  this.once("listening", () => {
    port = /** @type {import("node:net").AddressInfo} */ (this.address()).port;
    send({ listening: port });
  });
  return listen.apply(this, /** @type {any} */ (args));
};
send({ hello: process.pid });
