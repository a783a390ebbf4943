// Runs sequences of store operations through both drivers of the app, for `test_store_contract.py`.
// node [--import preload.mjs] driver_host.mjs MODULES DB: MODULES is a node_modules, DB a folder with the files of src/db, the graded driver among
// them. Reads a JSON line `{ rows?, operations }`: with rows they go to a new in-memory store, else through the driver.

import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [modules, db] = process.argv.slice(2);
const { rolldown } = await import(createRequire(join(modules, "any.js")).resolve("rolldown"));
const bundle = await rolldown({
  input: { memory: join(db, "memory.ts"), driver: join(db, "driver.ts") },
  plugins: [
    {
      name: "server-only",
      resolveId: (id) => (id === "server-only" ? "\0empty" : null),
      load: (id) => (id === "\0empty" ? "" : null),
    },
  ],
});
await bundle.write({ dir: join(db, "out"), entryFileNames: "[name].mjs" });
await bundle.close();
const { MemoryStore } = await import(join(db, "out", "memory.mjs"));
const { run } = await import(join(db, "out", "driver.mjs"));

for await (const line of createInterface({ input: process.stdin })) {
  const { rows, operations } = JSON.parse(line);
  const memory = rows && new MemoryStore(rows);
  const results = [];
  for (const [name, args] of operations) {
    try {
      results.push({ value: await (memory ? memory.run(name, args) : run(name, args)) });
    } catch (error) {
      results.push({ error: error.message });
    }
  }
  process.stdout.write(`${JSON.stringify({ results, rows: memory?.rows() ?? null })}\n`);
}
