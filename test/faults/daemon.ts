import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Call, createClient } from "../../src/api/client.ts";
import { socketRequest } from "../../src/api/socket-request.ts";
import { daemonFlags } from "../../src/cli/start-daemon.ts";
import { appFile } from "../programs.ts";
import type { Home } from "./home.ts";

/** A daemon's process, listening or not. */
export interface Daemon {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** True once it listens; false if it ended before. */
  readonly listens: Promise<boolean>;
  /** Its output so far. */
  said(): string;
  /** Sends SIGKILL, as the kernel does when memory runs out: no message, no cleanup. */
  kill(): Promise<void>;
}

const running = new Set<Daemon>();

export function spawnDaemon(home: Home, nodeArguments: readonly string[] = []): Daemon {
  const child = spawn(process.execPath, [...daemonFlags, ...nodeArguments, appFile, "--foreground"], {
    env: home.env,
    ...(home.uid === undefined ? {} : { uid: home.uid, gid: home.uid }),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  const ended = new Promise<number | NodeJS.Signals>((done) => {
    child.once("close", (code, signal) => done(signal ?? code ?? 1));
  });
  const listens = new Promise<boolean>((done) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("The daemon has started")) done(true);
    });
    ended.then(() => done(false));
  });
  const daemon: Daemon = {
    pid: child.pid ?? 0,
    child,
    ended,
    listens,
    said: () => text,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
  running.add(daemon);
  ended.then(() => running.delete(daemon));
  return daemon;
}

/** Starts a daemon and resolves when it listens. */
export async function startDaemon(home: Home, nodeArguments: readonly string[] = []): Promise<Daemon> {
  const daemon = spawnDaemon(home, nodeArguments);
  if (await daemon.listens) return daemon;
  throw new Error(`The daemon ended with ${await daemon.ended}:\n${daemon.said()}`);
}

/** No test leaves a daemon behind, even if it failed half-way. */
export async function killDaemons(): Promise<void> {
  await Promise.all([...running].map((daemon) => daemon.kill()));
}

/** Calls the API with the person's credential. */
export function createAsk({ places }: Home): Call {
  return createClient((question) =>
    socketRequest({ ...question, socket: places.socket, headers: personsHeaders({ places }) }),
  );
}

/** The headers with the person's credential. */
export function personsHeaders({ places }: Pick<Home, "places">): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${readFileSync(places.humanToken, "utf8").trim()}` };
}
