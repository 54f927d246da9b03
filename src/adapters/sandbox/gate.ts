import { spawn } from "node:child_process";
import { mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { constants } from "node:os";
import { join } from "node:path";
import { refusedFile } from "../../ports/sandbox.ts";
import { type GateOrder, proxyVariables } from "./gate-order.ts";
import { createProxy } from "./proxy.ts";

// Both ends of the only way to the network that a sandbox with `network: proxy` has. Outside, the program is the parent of
// the sandbox: it listens on a socket in the run's folder, and connects to the listed hosts. Inside, it is the parent of the
// agent: it passes on to that socket what programs send to their HTTP proxy. Both end with the run, and depend on no daemon.

const socketFile = "socket";
/** How many refused hosts are noted. */
const maxRefused = 50;

const [, , order = "", ...command] = process.argv;
begin(JSON.parse(order) as GateOrder, command);

function begin(order: GateOrder, command: readonly string[]): void {
  const fail = (error: Error) => {
    process.stderr.write(`signalbox: The way to the network cannot be opened: ${error.message}\n`);
    process.exit(126);
  };
  try {
    if (order.end === "outside") listenOutside(order, fail, () => become(command, process.env));
    else listenInside(order, fail, (port) => become(command, { ...process.env, ...proxyVariables(port, order.hosts) }));
  } catch (error) {
    fail(error as Error);
  }
}

function listenOutside({ folder, hosts }: GateOrder, fail: (error: Error) => void, ready: () => void): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  rmSync(join(folder, socketFile), { force: true });
  const refused = new Map<string, number>();
  const server: Server = createProxy({
    hosts,
    refused(host, port) {
      const name = `${host}:${port}`.slice(0, 300);
      if (!refused.has(name) && refused.size >= maxRefused) return;
      refused.set(name, (refused.get(name) ?? 0) + 1);
      note(folder, refused);
    },
  });
  server.once("error", fail);
  server.listen(shortPath(folder), ready);
  process.on("exit", () => rmSync(join(folder, socketFile), { force: true }));
}

/** What cannot be noted is refused all the same. */
function note(folder: string, refused: ReadonlyMap<string, number>): void {
  try {
    writeFileSync(join(folder, refusedFile), JSON.stringify(Object.fromEntries(refused)), { mode: 0o600 });
  } catch {}
}

function listenInside({ folder }: GateOrder, fail: (error: Error) => void, ready: (port: number) => void): void {
  const path = shortPath(folder);
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const outside = connect({ path, allowHalfOpen: true });
    for (const [one, other] of [
      [client, outside],
      [outside, client],
    ] as const) {
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  server.once("error", fail);
  server.listen(0, "127.0.0.1", () => {
    const at = server.address();
    ready(typeof at === "object" && at !== null ? at.port : 0);
  });
}

/** The system allows about a hundred characters for the path of a socket; a home may be deeper. */
function shortPath(folder: string): string {
  return `/proc/self/fd/${openSync(folder, "r")}/${socketFile}`;
}

/** Starts the command on our terminal or files, and ends as it ends. Signals are for the command, which gets them too. */
function become([program = "", ...rest]: readonly string[], env: NodeJS.ProcessEnv): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const) process.on(signal, () => {});
  const child = spawn(program, rest, { stdio: "inherit", env });
  child.on("error", ({ message }) => {
    process.stderr.write(`signalbox: "${program}" could not be started: ${message}\n`);
    process.exit(127);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal ?? "SIGKILL"] ?? 9)));
}
