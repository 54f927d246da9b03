import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSignalboxClient } from "../client/client.ts";
import { homePlaces } from "../home/places.ts";
import { openStream, socketRequest } from "./socket-request.ts";

const serve = `const server = require("node:http").createServer((_, answer) => answer.end("{}"));
server.listen({ path: process.argv[1], backlog: 1 }, () => process.stdout.write("ready"));`;

interface Busy {
  readonly home: string;
  readonly socket: string;
  readonly server: ChildProcess;
}

/** A server that accepts nothing, at the socket of a home, whose queue of connections is full. */
async function startBusy(): Promise<Busy> {
  const home = mkdtempSync(join(tmpdir(), "busy-"));
  const { socket } = homePlaces(home);
  mkdirSync(dirname(socket), { recursive: true });
  const server = spawn(process.execPath, ["-e", serve, socket], { stdio: ["ignore", "pipe", "inherit"] });
  const waiting: Socket[] = [];
  onTestFinished(() => {
    for (const each of waiting) each.destroy();
    server.kill("SIGKILL");
    rmSync(home, { recursive: true });
  });
  await new Promise((ready) => server.stdout?.once("data", ready));
  server.kill("SIGSTOP");
  for (let isFull = false; !isFull; ) {
    isFull = await new Promise<boolean>((resolve, reject) => {
      const each = connect(socket, () => resolve(false));
      waiting.push(each);
      each.on("error", (error: NodeJS.ErrnoException) => (error.code === "EAGAIN" ? resolve(true) : reject(error)));
    });
  }
  return { home, socket, server };
}

const get = (socket: string) => ({ socket, method: "GET", path: "/", headers: {} });

// Elsewhere the system refuses the connection, as if nothing listened.
const onLinux = test.runIf(process.platform === "linux");

onLinux("a request to a daemon with too many connections is sent once one is accepted", async () => {
  const { home, socket, server } = await startBusy();
  const asked = socketRequest({ ...get(socket), timeout: 20_000 });
  const client = createSignalboxClient({ home, token: "any" });
  const called = client.health();
  const stream = new Promise((resolve, reject) => openStream(get(socket), resolve, () => {}, reject));
  setTimeout(() => server.kill("SIGCONT"), 500);
  expect(await asked).toMatchObject({ status: 200, body: "{}" });
  expect(await called).toEqual({});
  expect(String(await stream)).toContain("200 OK");
});

onLinux("after some seconds the request fails, and the person is told that the daemon is busy", async () => {
  const { home, socket } = await startBusy();
  const client = createSignalboxClient({ home, token: "any" });
  const busy = { code: "daemon.busy", retry: "later", message: expect.stringContaining("The daemon is busy") };
  await Promise.all([
    expect(socketRequest(get(socket))).rejects.toMatchObject(busy),
    expect(client.health()).rejects.toMatchObject(busy),
  ]);
});

onLinux("who stops waiting for a connection is not connected later, and hears nothing more", async () => {
  const { socket, server } = await startBusy();
  let heard = 0;
  const hear = () => void heard++;
  const hangUp = openStream(get(socket), hear, hear, hear);
  await new Promise((resolve) => setTimeout(resolve, 200));
  hangUp();
  server.kill("SIGCONT");
  expect(await socketRequest({ ...get(socket), timeout: 20_000 })).toMatchObject({ status: 200 });
  expect(heard).toBe(0);
});
