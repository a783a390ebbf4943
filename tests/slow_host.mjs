// A plain server for `test_store_link.py`. `/outer` asks this very server for `/inner`, but what is sent on any
// connection after the first is not taken before the store has told a count.

import { createServer } from "node:http";

const run = globalThis[Symbol.for("lendbench.store")];
let connections = 0;

const server = createServer(async (request, response) => {
  if (request.url === "/outer") {
    const inner = await fetch(`http://127.0.0.1:${server.address().port}/inner`);
    response.end(await inner.text());
  } else {
    response.end(JSON.stringify(await run("items.categories", {})));
  }
});
server.pauseOnConnect = true;
server.on("connection", async (socket) => {
  connections += 1;
  if (connections > 1) await run("items.count", {});
  socket.resume();
});
server.listen(0, "127.0.0.1");
