import { Buffer } from "node:buffer";
import { summariseOutput } from "../../engine/summarise-output.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Commands } from "../../ports/commands.ts";
import type { Log } from "../../ports/log.ts";
import type { Workspace } from "../../ports/records.ts";
import { createHeadAndTail } from "./head-and-tail.ts";
import { keepOutput } from "./keep-output.ts";

/** What commands of the configuration are run with. */
export interface CommandPorts {
  readonly commands: Commands;
  readonly log: Log;
  /** What every command may see of our own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Fires when the daemon stops: a command that is under way is killed, and begun anew after the start. */
  readonly signal?: AbortSignal;
}

export interface ConfiguredCommand {
  /** Its key in the configuration. */
  readonly name: "setup" | "teardown";
  readonly argv: readonly string[];
  /** Milliseconds. */
  readonly timeout: number;
  /** For what it prints. */
  readonly file: string;
}

const mostKept = 1024 * 1024;
const longestEnd = 2_048;

/** Runs a command of the configuration in a workspace. One that fails is a Fault with the end of what it printed. */
export async function runInWorkspace(
  { commands, log, env, signal }: CommandPorts,
  { name, argv, timeout, file }: ConfiguredCommand,
  workspace: Workspace,
  task: Task,
  key: string,
): Promise<void> {
  const kept = createHeadAndTail(mostKept);
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
  const end = summariseOutput(printed, longestEnd);
  throw new Fault(`${name}.failed`, [`The ${name} command ${argv.join(" ")} ${how}. ${place}`, end].join("\n").trim(), {
    hint: `Mend it ("${name}" in the configuration), then: signalbox task retry ${task.id}`,
  });
}

/** The variable that tells a command which port is its workspace's. */
export function portVariable(port: number | undefined): Readonly<Record<string, string>> {
  return port === undefined ? {} : { SIGNALBOX_PORT: String(port) };
}
