import { lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { publishFile, writeWholeSync } from "../../durable-file.ts";
import type { Task } from "../../engine/task.ts";
import { parseObject } from "../../json.ts";
import type { HarnessOrder } from "../../ports/harness.ts";
import type { Run } from "../../ports/records.ts";
import type { Clock, Ids } from "../../ports/system.ts";
import type { Callers } from "../callers.ts";
import { type EnvironmentPorts, eventsFile, type KeptOrder, ownVariables, runEnvironment } from "./run-order.ts";

export interface SecretPorts {
  readonly callers: Pick<Callers, "issue">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly environment: EnvironmentPorts;
  portOf(task: Task): Promise<number | undefined>;
}

interface RunName {
  readonly role: string;
  readonly run: string;
  /** The name of its folder. */
  readonly name: string;
  /** The name of its task file, relative to its folder; empty for none. */
  readonly taskFile: string;
  /** It works in a checkout of its own. */
  readonly isJudge: boolean;
}

/** The environment of a run's program. Made anew for each program from the configuration, and stored nowhere. */
export async function environmentOf(
  ports: SecretPorts,
  task: Task,
  { role, run, name, taskFile, isJudge }: RunName,
): Promise<Pick<HarnessOrder, "env" | "mcp">> {
  const { places } = ports.environment;
  const token = await tokenOf(ports, join(places.runs, name), task, { role, run });
  const events = eventsFile(places, name);
  const port = isJudge ? undefined : await ports.portOf(task);
  const own = runEnvironment(ports.environment, { token, task: task.id, role, run, taskFile, events, port });
  const env = isJudge ? { ...own, ...judgesGit } : own;
  return { env, mcp: { argv: ["signalbox", "mcp"], env: ownVariables(env) } };
}

/** The order of another program of a run that has started before, in the folder `name`. */
export async function orderAgain(
  ports: SecretPorts,
  task: Task,
  { role, key }: Pick<Run, "role" | "key">,
  name: string,
  { order }: KeptOrder,
): Promise<HarnessOrder> {
  const taskFile = order.taskFile === "" ? "" : order.taskFile.slice(order.folder.length + 1);
  // A judge works in a checkout of its own.
  const isJudge = order.folder !== task.workspace;
  return { ...order, ...(await environmentOf(ports, task, { role, run: key, name, taskFile, isJudge })) };
}

/** Others can write the user's own git configuration, and what it says must not change what a judge is shown. */
const judgesGit = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_NO_REPLACE_OBJECTS: "1" };

const tokenLifetime = 30 * 24 * 3_600_000;
const tokenFile = "token";

/**
 * The same token whenever the same run is started again: a program that survived an earlier attempt must stay
 * authorised.
 */
async function tokenOf(
  { callers, clock, ids }: SecretPorts,
  runFolder: string,
  task: Task,
  { role, run }: Pick<RunName, "role" | "run">,
): Promise<string> {
  const file = join(runFolder, tokenFile);
  const known = read(file);
  const secret = known || ids.secret();
  if (known === "") publishFile(file, secret, { mode: 0o600 });
  const at = clock.now();
  const { id, project } = task;
  return callers.issue({ project, task: id, at, role, run, expiresAt: at + tokenLifetime }, secret);
}

/** The output of the program itself, which is no file of ours. */
const outputFiles = new Set(["output", "errors", "events"]);
/** How deep harnesses nest their files, and the size up to which these are searched. */
const maxDepth = 3;
const maxBytes = 1024 ** 2;

/**
 * Removes the token and the environment of an ended run from the files of its folder. What is needed to read its end
 * stays. The token's file is deleted last: a removal that fails or is interrupted is repeated at the next start.
 */
export function forgetSecrets(runs: string, name: string, live: ReadonlySet<string> = new Set()): void {
  const secret = read(join(runs, name, tokenFile));
  if (secret === "") return;
  // A run that was asked again has a folder for each of its processes.
  const isTheirs = (each: string) => each === name || (each.startsWith(`${name}-`) && !live.has(each));
  try {
    for (const each of readdirSync(runs).filter(isTheirs)) {
      // A launcher or a supervisor that has started its program has deleted its order.
      rmSync(join(runs, each, "order.json"), { force: true });
      forgetEnvironment(join(runs, each, "harness.json"));
      redact(join(runs, each), secret, maxDepth);
    }
    rmSync(join(runs, name, tokenFile), { force: true });
  } catch {
    // The disk may be full. That must not keep the run's end from being reported.
  }
}

/** Removes the secrets of runs that ended while no daemon ran, or under an earlier version. */
export function forgetEnded(runs: string, known: readonly Run[]): void {
  const live = new Set(
    known.flatMap(({ endedAt, started }) => (endedAt === undefined && started ? [started.name] : [])),
  );
  for (const name of namesIn(runs)) if (!live.has(name)) forgetSecrets(runs, name, live);
}

/** An earlier version kept the environment in the run's order. */
function forgetEnvironment(file: string): void {
  const kept = parseObject(read(file));
  const order = kept?.order as Partial<HarnessOrder> | undefined;
  if (order?.env === undefined && order?.mcp === undefined) return;
  const { env: _, mcp: __, ...rest } = order;
  writeWholeSync(file, JSON.stringify({ ...kept, order: rest }), { mode: 0o600, fsync: false });
}

function redact(folder: string, secret: string, depth: number): void {
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() && depth > 0) redact(path, secret, depth - 1);
    if (!found?.isFile() || found.size > maxBytes || outputFiles.has(name) || name === tokenFile) continue;
    const text = readFileSync(path, "latin1");
    if (!text.includes(secret)) continue;
    const rest = Buffer.from(text.replaceAll(secret, "removed"), "latin1");
    writeWholeSync(path, rest, { mode: 0o600, fsync: false });
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Empty for anything but a plain file that can be read: reading a pipe may never end. */
function read(file: string): string {
  try {
    const found = lstatSync(file);
    return found.isFile() && found.size <= maxBytes ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}
