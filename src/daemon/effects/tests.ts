import { Buffer } from "node:buffer";
import { join } from "node:path";
import { readDuration } from "../../engine/duration.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import { projectFiles } from "../../home/project-files.ts";
import type { Store } from "../../ports/store.ts";
import type { Command, CommandResult, Log } from "../../ports/system.ts";
import { summariseOutput } from "../../project-tests/output.ts";
import { cutText } from "../../text.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project.ts";
import type { SettingsOf } from "../workspaces/project-settings.ts";
import { type CommandPorts, createHeadAndTail, keepOutput, portVariable } from "./commands.ts";

export interface RunTestsPorts {
  /** `onOutput` gets all output as it is printed; the result has only the end of it. */
  readonly commands: { run(command: Command & { onOutput(chunk: Uint8Array): void }): Promise<CommandResult> };
  readonly log: Log;
  /** The task's workspace, where its tests run. A fault where it has none. */
  folderOf(task: Task): Promise<string>;
  /** The command in the configuration; empty where it must be detected. */
  testCommandOf(task: Task): Promise<readonly string[]>;
  /** The command that the base commit has, where it must be detected; undefined if the base has none. */
  readonly baseCommandOf?: ((task: Task, folder: string) => Promise<ChosenCommand | undefined>) | undefined;
  /** How long the tests may take where the workflow does not say, in seconds. */
  timeoutOf?(task: Task): Promise<number>;
  /** Whether work without tests is refused. */
  requireTests(task: Task): Promise<boolean>;
  /** The file for the output of this stay's tests. */
  outputFile(task: Task): string;
  /** The part of the daemon's environment that every command may see. */
  readonly env: Readonly<Record<string, string>>;
  /** Further variables for the commands of this task. */
  variablesOf?(task: Task): Promise<Readonly<Record<string, string>>>;
  /** Aborts when the daemon stops: running tests are killed, and run again after the start. */
  readonly signal?: AbortSignal;
}

const defaultTimeout = 30 * 60;
const maxKept = 5 * 1024 * 1024;
const maxReason = 4096;

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
    const kept = createHeadAndTail(maxKept);
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

export interface ChosenCommand {
  readonly argv: readonly string[];
  /** As a sentence. */
  readonly why: string;
}

async function chooseCommand(ports: RunTestsPorts, task: Task, given: unknown, folder: string): Promise<ChosenCommand> {
  if (Array.isArray(given) && given.length > 0) return { argv: given, why: "The workflow names this command." };
  const configured = await ports.testCommandOf(task);
  if (configured.length > 0) return { argv: configured, why: "The configuration names this command." };
  // What the work itself says about its tests counts only if the base says nothing.
  const ofBase = await ports.baseCommandOf?.(task, folder);
  if (ofBase !== undefined) return ofBase;
  // Imported lazily: it loads parsers of TOML and JSON that most daemons never need.
  const { findTestCommand } = await import("../../project-tests/find-test-command.ts");
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
  const room = maxReason - Buffer.byteLength(first) - 1;
  const summary = room > 0 ? summariseOutput(printed, room) : "";
  return summary === "" ? first : `${first}\n${summary}`;
}

/** The command may be a whole script. */
function shown(argv: readonly string[]): string {
  const line = argv.join(" ");
  return cutText(line, 300);
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

interface TestsPorts extends CommandPorts {
  readonly store: Store;
  readonly places: Pick<Places, "logs">;
  readonly settingsOf: SettingsOf;
  folderOf(task: Task): Promise<string>;
  portOf(task: Task): Promise<number | undefined>;
  readonly baseCommandOf?: RunTestsPorts["baseCommandOf"];
}

/** Runs a project's tests by its settings, which come from outside of the workspace, where agents write. */
export function testsOf({ store, places, settingsOf, portOf, ...rest }: TestsPorts): Perform {
  const settings = async (task: Task) => settingsOf(await projectOf(store, task.project));
  return runTests({
    ...rest,
    testCommandOf: async (task) => (await settings(task)).testCommand,
    timeoutOf: async (task) => (await settings(task)).testTimeout,
    requireTests: async (task) => (await settings(task)).requireTests,
    variablesOf: async (task) => portVariable(await portOf(task)),
    outputFile: ({ id, entry }) => join(places.logs, "tests", `${id}-${entry}.log`),
  });
}
