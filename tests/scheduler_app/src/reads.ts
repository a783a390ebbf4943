import { execFile } from "node:child_process";
import { randomBytes, scrypt, webcrypto } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import { items } from "@/db";

const busily = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};
const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const squeeze = promisify(gzip);
const program = promisify(execFile);
const stretch = promisify(scrypt);

let ticking: NodeJS.Timeout | undefined;

/** What stands between the page's start, or its first read, and the next read. */
const between: Record<string, (tooLate: () => void) => unknown> = {
  nothing: () => undefined,
  scrypt: () => stretch("secret", "salt", 32, { N: 4096 }),
  "scrypt-twice": async () => {
    await stretch("secret", "salt", 32, { N: 4096 });
    await stretch("secret", "salt", 32, { N: 4096 });
  },
  zlib: () => squeeze(randomBytes(1_000_000)),
  subtle: () => webcrypto.subtle.digest("SHA-256", randomBytes(5_000_000)),
  child: () => program("/bin/sleep", ["0.03"]),
  file: () => readFile("package.json"),
  timer: () => after(50),
  "timer-chain": async () => {
    for (let n = 0; n < 5; n += 1) await after(7);
  },
  immediate: () => new Promise((resolve) => setImmediate(resolve)),
  busy: () => busily(30),
  guarded: (tooLate) => {
    setTimeout(tooLate, 1500);
  },
  interval: () => {
    ticking ??= setInterval(() => undefined, 5);
  },
  lookup: async () => (await import("node:dns/promises")).lookup("localhost"),
};

/** Two independent reads, one of them behind a barrier. In order `seq` it also waits for the other. */
export async function readBoth(order: string, barrier: string): Promise<string> {
  const pause = between[barrier];
  let late = "";
  const a = async () => {
    await pause(() => (late = ", too late"));
    return items.count();
  };
  const b = async () => items.categories();
  switch (order) {
    case "ab": {
      const [count, categories] = await Promise.all([a(), b()]);
      return `${count} of ${categories.length}${late}`;
    }
    case "ba": {
      const [categories, count] = await Promise.all([b(), a()]);
      return `${count} of ${categories.length}${late}`;
    }
    default: {
      const categories = await b();
      return `${await a()} of ${categories.length}${late}`;
    }
  }
}
