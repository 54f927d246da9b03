import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bubblewrap } from "../../src/adapters/sandbox/bubblewrap.ts";
import { spawnCommands } from "../../src/adapters/system.ts";
import { createConfine } from "../../src/daemon/agents/confine.ts";
import { ownProgram } from "../../src/daemon/agents/run-programs.ts";
import { plainRun } from "../../src/engine/run-spec.ts";
import { agentConfig } from "../../src/home/agent-fields.ts";
import { homePlaces } from "../../src/home/places.ts";
import type { Harness, HarnessOrder } from "../../src/ports/harness.ts";
import type { Log } from "../../src/ports/system.ts";
import { type ModelServer, startModelServer } from "../model-server/server.ts";
import { removeFolder } from "../remove-folder.ts";
import type { Candidate } from "./candidate.ts";

/** A fresh environment for one behaviour. */
export interface Stage {
  readonly candidate: Candidate;
  /** The program's path. */
  readonly path: string;
  readonly harness: Harness;
  /** Its programs are started in a sandbox. */
  readonly isConfined: boolean;
  readonly server: ModelServer;
  /** A repository with one commit, one tracked file, and a remote. */
  readonly folder: string;
  readonly root: string;
  readonly tracked: string;
  readonly taskFile: string;
  /** The file with the hooks' events. */
  readonly eventsFile: string;
  /** An order for a turn with full permissions, with the given changes. */
  order(change: Partial<HarnessOrder>): HarnessOrder;
  git(...args: readonly string[]): string;
  /** The calls of the stand-in for our command line, one line each. */
  cliCalls(): readonly string[];
  close(): Promise<void>;
}

const token = "scripted-token";
/** Milliseconds. Generous: these tests are not about speed, and the machine may be busy. */
export const defaultTimeout = 300_000;

export async function openStage(
  candidate: Candidate,
  path: string,
  isConfined = false,
  hasProxy = false,
): Promise<Stage> {
  const root = mkdtempSync(join(tmpdir(), "signalbox-harness-"));
  const [home, folder, bin, remote] = ["home", "workspace", "bin", "remote.git"].map((name) => {
    mkdirSync(join(root, name));
    return join(root, name);
  }) as [string, string, string, string];
  const server = await startModelServer(candidate.isSide === undefined ? {} : { isSide: candidate.isSide });
  const git = (...args: readonly string[]) =>
    execFileSync("git", [...args], { cwd: folder, encoding: "utf8", env: gitEnvironment(home), stdio: "pipe" });
  const tracked = join(folder, "coffee.txt");
  const taskFile = join(folder, "TASK.md");
  writeFileSync(tracked, "beans\n");
  writeFileSync(taskFile, "# Task\n");
  writeFileSync(join(folder, ".gitignore"), "TASK.md\n");
  writeFileSync(join(folder, "test.sh"), "#!/bin/sh\necho all tests pass\n", { mode: 0o755 });
  execFileSync("git", ["init", "-q", "--bare", remote], { env: gitEnvironment(home) });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-q", "-m", "Start");
  git("remote", "add", "origin", remote);
  for (const name of ["api", "hooks"]) mkdirSync(join(root, name));
  const socket = join(root, "api", "daemon.sock");
  const daemon = await listen(socket);
  const cli = join(bin, "signalbox");
  writeFileSync(cli, standIn(socket));
  chmodSync(cli, 0o755);
  candidate.seed?.(home, server.url);
  const eventsFile = join(root, "hooks", "events");

  const order = (change: Partial<HarnessOrder>): HarnessOrder => ({
    run: "worker-1",
    mode: "turn",
    prompt: "Please begin.",
    system: "",
    folder,
    runFolder: join(root, "run"),
    model: candidate.model,
    effort: "",
    permissions: "full",
    tools: undefined,
    taskFile,
    testCommand: ["./test.sh"],
    cli: "signalbox",
    session: { kind: "new", id: randomUUID() },
    schema: undefined,
    mcp: undefined,
    hook: [process.execPath, join(import.meta.dirname, "append-event.mjs"), eventsFile],
    costLimit: undefined,
    ...change,
    env: {
      HOME: home,
      LANG: "C.UTF-8",
      // Not a parent of its home: Codex refuses a home inside the folder for temporary files.
      TMPDIR: join(root, "tmp"),
      PATH: [bin, join(process.execPath, ".."), process.env.PATH].join(delimiter),
      SIGNALBOX_TOKEN: token,
      SIGNALBOX_EVENTS: eventsFile,
      ...candidate.env(home, server.url),
      ...change.env,
    },
  });
  mkdirSync(join(root, "tmp"));
  mkdirSync(join(root, "run"));

  return {
    candidate,
    path,
    isConfined,
    harness: isConfined
      ? confined(candidate.harness(home, path), { root, bin, socket, model: hasProxy ? new URL(server.url).host : "" })
      : candidate.harness(home, path),
    ...{ server, folder, root, tracked, taskFile, eventsFile, order, git },
    cliCalls: () => daemon.calls,
    async close() {
      daemon.close();
      await server.close();
      removeFolder(root);
    },
  };
}

/**
 * The same harness, whose programs are started in a sandbox as the daemon does it. With a host as `model`, they have a proxy
 * that reaches only that and the hosts of the harness.
 */
function confined(
  harness: Harness,
  { root, bin, socket, model }: Record<"root" | "bin" | "socket" | "model", string>,
): Harness {
  const home = join(root, "signalbox");
  const confine = createConfine({
    ...{ home, log: quietLog, config: () => agentConfig({ agentsSandbox: "on", agentsNetworkAllow: [model] }) },
    sandbox: bubblewrap({ commands: spawnCommands, env: process.env, gate: ownProgram("gate") }),
    store: { listProjects: async () => [] },
    places: { ...homePlaces(home), bin, socket },
  });
  return {
    ...harness,
    async prepare(order) {
      const network = model === "" ? "on" : "proxy";
      const spec = { ...plainRun("worker"), permissions: order.permissions, network } as const;
      return confine({ project: "coffee", spec, harness, order, launch: await harness.prepare(order) });
    },
  };
}

const quietLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => quietLog, async close() {} };

/** Like our command line, it connects to a socket only. */
function standIn(socket: string): string {
  return `#!${process.execPath}
const line = [process.env.SIGNALBOX_TOKEN, ...process.argv.slice(2)].join(" ");
require("node:net").connect(${JSON.stringify(socket)}).end(line).on("data", (said) => process.stdout.write(said));
`;
}

async function listen(socket: string): Promise<{ readonly calls: readonly string[]; close(): void }> {
  const calls: string[] = [];
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    const pieces: Buffer[] = [];
    connection.on("data", (piece) => pieces.push(piece));
    connection.on("error", () => connection.destroy());
    connection.on("end", () => {
      calls.push(Buffer.concat(pieces).toString("utf8"));
      connection.end("The task is moved.\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return { calls, close: () => void server.close() };
}

/** Every call of our command line must carry the run's own token. */
export const cliCall = `${token} task update --status reviewing`;

/** Polls until the condition holds; the error names the condition. */
export async function until<Value>(
  what: string,
  look: () => Promise<Value | undefined> | Value | undefined,
): Promise<Value> {
  const end = Date.now() + defaultTimeout;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`timed out waiting for: ${what}`);
    await sleep(50);
  }
}

export function expect(isSo: boolean, otherwise: () => string): void {
  if (!isSo) throw new Error(otherwise());
}

function gitEnvironment(home: string): NodeJS.ProcessEnv {
  const name = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.org" };
  const committer = { GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.org" };
  return { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1", ...name, ...committer };
}
