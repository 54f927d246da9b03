import { Buffer } from "node:buffer";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { publishFile } from "../../durable-file.ts";
import type { Effect } from "../../engine/decision.ts";
import { readDuration } from "../../engine/duration.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Commands, Log } from "../../ports/system.ts";
import { summariseOutput } from "../../project-tests/output.ts";
import { sha256 } from "../../sha256.ts";
import type { Perform, PerformContext } from "../perform.ts";

/** Text whose middle is dropped when it becomes too long. */
interface HeadAndTail {
  add(chunk: Uint8Array): void;
  /** The whole text, or both ends with a line between them that says how much is missing. Invalid UTF-8 is replaced. */
  text(): string;
}

/** Keeps at most `maxBytes`, however much is added. */
export function createHeadAndTail(maxBytes: number): HeadAndTail {
  const half = Math.floor((maxBytes - noteSize) / 2);
  const decoder = new TextDecoder();
  let head = "";
  let headSize = 0;
  let isHeadFull = false;
  let tail: Part[] = [];
  let tailSize = 0;
  let missing = 0;

  const take = (text: string) => {
    const size = Buffer.byteLength(text);
    isHeadFull ||= headSize + size > half;
    if (!isHeadFull) {
      head += text;
      headSize += size;
      return;
    }
    tail.push({ text, size });
    tailSize += size;
    // Dropping copies the whole tail, so it is done rarely.
    if (tailSize > maxBytes) drop();
  };
  const drop = () => {
    let first = 0;
    for (; tailSize > half && first < tail.length - 1; first++) {
      const { size } = tail[first] as Part;
      tailSize -= size;
      missing += size;
    }
    tail = tail.slice(first);
  };

  return {
    add(chunk) {
      // Pieces much smaller than a half, so that both ends are cut close to their limits.
      const piece = Math.max(1, Math.min(64 * 1024, Math.floor(half / 8)));
      for (let start = 0; start < chunk.length; start += piece) {
        take(decoder.decode(chunk.subarray(start, start + piece), { stream: true }));
      }
    },
    text() {
      take(decoder.decode());
      if (missing > 0 || headSize + tailSize > maxBytes) drop();
      const end = tail.map((each) => each.text).join("");
      return missing === 0 ? `${head}${end}` : `${head}\n… ${missing} bytes are left out here …\n${end}`;
    },
  };
}

/** Room for the line in the middle. */
const noteSize = 64;

interface Part {
  readonly text: string;
  readonly size: number;
}

/** Writes the output of a command to a file, and says where. A failure to write says nothing about the command. */
export function keepOutput(log: Log, task: string, path: string, text: string): string {
  try {
    makePrivateFolder(dirname(path));
    publishFile(path, text, { mode: 0o600 });
    return `The whole output is in ${path}.`;
  } catch (error) {
    log.warn("The output of a command could not be kept", { task, path, error });
    return "The whole output could not be kept.";
  }
}

const defaultTimeout = 10 * 60;

interface RunCommandPorts {
  readonly commands: Commands;
  /** The task's workspace. A fault where it has none. */
  folderOf(task: Task): Promise<string>;
  /**
   * The parent of the empty folders in which commands of tasks without a workspace run; the system's temporary folder
   * if missing. Not the home, which may be inside of a repository that git would find from there.
   */
  readonly scratch?: string;
  /** The daemon's home, which names these folders, so that its next daemon deletes what a killed one has left. */
  readonly home?: string;
  /** The part of the daemon's environment that every command may see. */
  readonly env: Readonly<Record<string, string>>;
  /** Further variables for the commands of this task. */
  variablesOf?(task: Task): Promise<Readonly<Record<string, string>>>;
  /** Aborts when the daemon stops: a running command is killed, and run again after the start. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a command of the workflow in the task's workspace or, without one, in an empty folder; never in the user's
 * checkout. A repeated run has the same key, so that the command can recognise it.
 */
export function runCommand(ports: RunCommandPorts): Perform {
  const { scratch = tmpdir(), home } = ports;
  const prefix = join(
    scratch,
    home === undefined ? "signalbox-command-" : `signalbox-command-${sha256(home).slice(0, 12)}-`,
  );
  if (home !== undefined) removeLeft(prefix);
  return async (effect, context) => {
    if (context.task.workspace !== "") return runIn(ports, await ports.folderOf(context.task), effect, context);
    const folder = await mkdtemp(prefix);
    try {
      await runIn(ports, folder, effect, context);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

/** Deletes the folders of a daemon of the same home that was killed. */
function removeLeft(prefix: string): void {
  const parent = dirname(prefix);
  const paths = existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : [];
  for (const path of paths.filter((each) => each.startsWith(prefix))) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Another user's, or still being written to: the next start tries again.
    }
  }
}

async function runIn(
  { commands, env, signal, variablesOf }: RunCommandPorts,
  cwd: string,
  { params }: Effect,
  { task, key }: PerformContext,
): Promise<void> {
  const argv = params.command as readonly string[];
  const seconds = readDuration(params.timeout as string | number) ?? defaultTimeout;
  const own = {
    ...(await variablesOf?.(task)),
    SIGNALBOX_TASK: task.id,
    SIGNALBOX_STATUS: task.status,
    SIGNALBOX_EFFECT: key,
  };
  const { code, timedOut, output } = await commands.run({
    argv,
    cwd,
    env: { ...env, ...own },
    timeout: seconds * 1000,
    ...(signal === undefined ? {} : { signal }),
  });
  if (code === 0) return;
  const how = timedOut ? `did not end within ${seconds} s` : code === undefined ? "was killed" : `ended with ${code}`;
  const last = output.trim().split("\n").slice(-5).join("\n");
  throw new Fault("command.failed", `${argv.join(" ")} ${how}.${last === "" ? "" : `\n${last}`}`);
}

/** What is needed to run commands from the configuration. */
export interface CommandPorts {
  readonly commands: Commands;
  readonly log: Log;
  /** The part of the daemon's environment that every command may see. */
  readonly env: Readonly<Record<string, string>>;
  /** Aborts when the daemon stops: a running command is killed, and run again after the start. */
  readonly signal?: AbortSignal;
}

interface ConfiguredCommand {
  /** Its key in the configuration. */
  readonly name: "setup" | "teardown";
  readonly argv: readonly string[];
  /** Milliseconds. */
  readonly timeout: number;
  /** The file for its output. */
  readonly file: string;
}

const maxKept = 1024 * 1024;
const maxSummary = 2_048;

/** Runs a command of the configuration in a workspace. A failure is a Fault with the end of the output. */
export async function runInWorkspace(
  { commands, log, env, signal }: CommandPorts,
  { name, argv, timeout, file }: ConfiguredCommand,
  workspace: Workspace,
  task: Task,
  key: string,
): Promise<void> {
  const kept = createHeadAndTail(maxKept);
  let isTold = false;
  const own = { SIGNALBOX_TASK: task.id, SIGNALBOX_STATUS: task.status, SIGNALBOX_EFFECT: key };
  const { code, timedOut, output } = await commands.run({
    argv,
    cwd: workspace.path,
    env: { ...env, ...own, ...portVariable(workspace.port) },
    timeout,
    onOutput(chunk) {
      isTold = true;
      kept.add(chunk);
    },
    ...(signal === undefined ? {} : { signal }),
  });
  if (!isTold) kept.add(Buffer.from(output));
  const printed = kept.text();
  const place = keepOutput(log, task.id, file, printed);
  if (code === 0) return;
  const how = timedOut
    ? `did not end within ${timeout / 1000} s`
    : code === undefined
      ? "was killed"
      : `ended with ${code}`;
  const end = summariseOutput(printed, maxSummary);
  throw new Fault(`${name}.failed`, [`The ${name} command ${argv.join(" ")} ${how}. ${place}`, end].join("\n").trim(), {
    hint: `Correct it ("${name}" in the configuration), then: signalbox task retry ${task.id}`,
  });
}

/** The variable that gives a command the port of its workspace. */
export function portVariable(port: number | undefined): Readonly<Record<string, string>> {
  return port === undefined ? {} : { SIGNALBOX_PORT: String(port) };
}
