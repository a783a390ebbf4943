// Runs a script in a thread with a large stack: a parser that calls itself overflows the usual one on deep sources.
//
//   node deep.mjs SCRIPT ARGUMENT…
import { Worker } from "node:worker_threads";

const [script, ...argv] = process.argv.slice(2);
new Worker(script, { argv, resourceLimits: { stackSizeMb: 900 } });
