import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Effect } from "../../engine/decision.ts";
import { readDuration } from "../../engine/duration.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Commands } from "../../ports/commands.ts";
import type { Perform, PerformContext } from "../perform.ts";

const defaultTimeout = 10 * 60;

export interface RunCommandPorts {
  readonly commands: Commands;
  /** The task's workspace. A fault where it has none. */
  folderOf(task: Task): Promise<string>;
  /** For empty folders, which tasks without a workspace have their commands run in; the system's own where it is missing. */
  readonly scratch?: string;
  /** What every command may see of our own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What the commands of this task see besides. */
  variablesOf?(task: Task): Promise<Readonly<Record<string, string>>>;
  /** Fires when the daemon stops: a command that is under way is killed, and begun anew after the start. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a command of the workflow in the task's workspace or, where it has none, in an empty folder: never in the user's
 * checkout. Its key is the same whenever it is run again, so that it can tell a repeat.
 */
export function runCommand(ports: RunCommandPorts): Perform {
  return async (effect, context) => {
    if (context.task.workspace !== "") return runIn(ports, await ports.folderOf(context.task), effect, context);
    const folder = await mkdtemp(join(ports.scratch ?? tmpdir(), "signalbox-command-"));
    try {
      await runIn(ports, folder, effect, context);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
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
