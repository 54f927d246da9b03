import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { summaryOf } from "./many-tasks.ts";

const types: Readonly<Record<string, string>> = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html" };

/** Serves the bare list with its rows, and changes some of them when told. */
export async function serveBareList(folder: string, count: number) {
  const turns = Array.from({ length: count }, () => 0);
  const rowOf = (number: number) => ({ number, summary: summaryOf(number, turns[number] ?? 0) });
  const streams = new Set<ServerResponse>();
  const server = createServer(({ url = "/" }, response) => {
    if (url === "/stream") {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": \n\n");
      streams.add(response);
      return;
    }
    if (url === "/rows") return void response.end(JSON.stringify(turns.map((_, number) => rowOf(number))));
    const file = url.startsWith("/assets/") ? url : "/index.html";
    try {
      const bytes = readFileSync(join(folder, file));
      response.writeHead(200, { "content-type": types[extname(file)] ?? "text/plain" }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    /** Tells all pages of one change of each row. */
    change(rows: readonly number[], turn: number): void {
      for (const row of rows) turns[row] = turn;
      for (const each of streams) each.write(`data: ${JSON.stringify(rows.map(rowOf))}\n\n`);
    },
    async close() {
      for (const each of streams) each.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
