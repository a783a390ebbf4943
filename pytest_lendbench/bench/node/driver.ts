import "server-only";

import { MemoryStore } from "./memory";
import type { Run } from "./operations";
import { seed } from "./seed";

/** A build asks nobody: its data is the seed, so that a page that is baked at build is visibly stale. */
const building = process.env.NEXT_PHASE === "phase-production-build" ? new MemoryStore(seed()) : null;

/** The one connection of the server's process, kept by the preload. This module is loaded more than once. */
function connection(): Run {
  const run = (globalThis as { [key: symbol]: unknown })[Symbol.for("lendbench.store")];
  if (typeof run !== "function") throw new Error("This server was started without its store.");
  return run as Run;
}

/** Asks the store for one operation. */
export const run: Run = async (name, args) =>
  building === null ? connection()(name, args) : building.run(name, args);
