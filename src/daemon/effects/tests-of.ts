import { join } from "node:path";
import type { Task } from "../../engine/task.ts";
import type { Places } from "../../home/places.ts";
import type { Store } from "../../ports/store.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import type { SettingsOf } from "../workspaces/project-settings.ts";
import { type CommandPorts, portVariable } from "./run-in-workspace.ts";
import { runTests } from "./run-tests.ts";

export interface TestsPorts extends CommandPorts {
  readonly store: Store;
  readonly places: Pick<Places, "logs">;
  readonly settingsOf: SettingsOf;
  folderOf(task: Task): Promise<string>;
  portOf(task: Task): Promise<number | undefined>;
}

/** Runs a project's tests as its settings say. What they say comes from outside of the workspace, where agents write. */
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
