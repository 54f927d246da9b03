import { Buffer } from "node:buffer";
import { readDuration } from "../../engine/duration.ts";
import { findTestCommand } from "../../engine/find-test-command.ts";
import { summariseOutput } from "../../engine/summarise-output.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { projectFiles } from "../../home/project-files.ts";
import type { Command, CommandResult } from "../../ports/commands.ts";
import type { Log } from "../../ports/log.ts";
import type { Perform } from "../perform.ts";
import { createHeadAndTail } from "./head-and-tail.ts";
import { keepOutput } from "./keep-output.ts";

export interface RunTestsPorts {
  /** `onOutput` is told everything that is printed, as it comes; the result has only the end of it. */
  readonly commands: { run(command: Command & { onOutput(chunk: Uint8Array): void }): Promise<CommandResult> };
  readonly log: Log;
  /** Where the task's tests run: its workspace. A fault where it has none. */
  folderOf(task: Task): Promise<string>;
  /** The command that the configuration names; empty where it is to be found out. */
  testCommandOf(task: Task): Promise<readonly string[]>;
  /** How long they may take where the workflow does not say, in seconds. */
  timeoutOf?(task: Task): Promise<number>;
  /** Whether work is refused for which there are no tests to run. */
  requireTests(task: Task): Promise<boolean>;
  /** The file for what the tests of this stay print. */
  outputFile(task: Task): string;
  /** What every command may see of our own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What the commands of this task see besides. */
  variablesOf?(task: Task): Promise<Readonly<Record<string, string>>>;
  /** Fires when the daemon stops: tests that are under way are killed, and begun anew after the start. */
  readonly signal?: AbortSignal;
}

const defaultTimeout = 30 * 60;
const mostKept = 5 * 1024 * 1024;
const longestReason = 4096;

/**
 * Runs the project's tests. Ends with `tests` where they fail, and with `untested` where there is no command for them;
 * tests that did not start or did not end are an error, which says nothing about the work.
 */
export function runTests(ports: RunTestsPorts): Perform {
  return async ({ params }, { task, key }) => {
    const { commands, env, signal } = ports;
    const cwd = await ports.folderOf(task);
    const { argv, why } = await chooseCommand(ports, task, params.command, cwd);
    const seconds =
      readDuration(params.timeout as string | number) ?? (await ports.timeoutOf?.(task)) ?? defaultTimeout;
    const own = {
      ...(await ports.variablesOf?.(task)),
      CI: "1",
      SIGNALBOX_TASK: task.id,
      SIGNALBOX_STATUS: task.status,
      SIGNALBOX_EFFECT: key,
    };
    const kept = createHeadAndTail(mostKept);
    let isTold = false;
    const onOutput = (chunk: Uint8Array) => {
      isTold = true;
      kept.add(chunk);
    };
    const command = { argv, cwd, env: { ...env, ...own }, timeout: seconds * 1000, onOutput };
    const { code, timedOut, output } = await commands
      .run(signal === undefined ? command : { ...command, signal })
      .catch((error) => {
        throw isFault(error, "command.not-started") ? notStarted(error, why) : error;
      });
    if (!isTold) kept.add(Buffer.from(output));
    const printed = kept.text();
    const place = keepOutput(ports.log, task.id, ports.outputFile(task), printed);
    if (code === 0) return;
    const how = timedOut ? `did not end within ${seconds} s` : code === undefined ? "was killed" : `ended with ${code}`;
    throw new Fault(
      timedOut ? "tests.timeout" : code === undefined ? "tests.killed" : "tests",
      reasonOf([`${shown(argv)} ${how}.`, why, place], printed),
    );
  };
}

interface ChosenCommand {
  readonly argv: readonly string[];
  /** As a sentence. */
  readonly why: string;
}

async function chooseCommand(ports: RunTestsPorts, task: Task, given: unknown, folder: string): Promise<ChosenCommand> {
  if (Array.isArray(given) && given.length > 0) return { argv: given, why: "The workflow names this command." };
  const configured = await ports.testCommandOf(task);
  if (configured.length > 0) return { argv: configured, why: "The configuration names this command." };
  const search = findTestCommand(projectFiles(folder));
  if (search.kind === "found") return search.commands[0];
  const isRequired = await ports.requireTests(task);
  throw new Fault(
    isRequired ? "tests" : "untested",
    [
      isRequired
        ? "There must be tests, but no command to run them was found."
        : "Nothing was tested: no command to run the tests was found.",
      ...search.notes,
      'Add a script or a target "test" to the project, or name the command as "test_command" in the configuration.',
    ].join(" "),
  );
}

function reasonOf(sentences: readonly string[], printed: string): string {
  const first = sentences.join(" ");
  const room = longestReason - Buffer.byteLength(first) - 1;
  const summary = room > 0 ? summariseOutput(printed, room) : "";
  return summary === "" ? first : `${first}\n${summary}`;
}

/** A command may be a whole script. */
function shown(argv: readonly string[]): string {
  const line = argv.join(" ");
  return line.length <= 300 ? line : `${line.slice(0, 300).toWellFormed()}…`;
}

function notStarted(error: Fault, why: string): Fault {
  return new Fault("tests.not-started", `The tests could not be started: ${error.message} ${why}`, {
    hint: error.hint ?? "",
    cause: error,
  });
}

function isFault(error: unknown, code: string): error is Fault {
  return error instanceof Fault && error.code === code;
}
