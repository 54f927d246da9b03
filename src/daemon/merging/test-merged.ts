import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import { projectFiles } from "../../home/project-files.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Repositories } from "../core.ts";
import { type CommandPorts, runInWorkspace } from "../effects/commands.ts";
import { testsOf as performTests } from "../effects/tests.ts";
import type { Protection } from "../protection.ts";
import type { StoppableCommands } from "../stoppable-commands.ts";
import type { ProjectSettings, SettingsOf } from "../workspaces/project-settings.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { changedRunners, findRunners, type Runners, removeInstalled } from "../workspaces/runners.ts";
import type { Predictions } from "./conflicts.ts";
import type { LandPorts, Tested } from "./land.ts";
import { createMerging, type MergingPorts } from "./merging.ts";
import type { Merged } from "./stack.ts";

/** How merges are tested and published. */
export type Landing = Pick<LandPorts, "where" | "test">;

interface RepositoriesPorts extends Omit<MergingPorts, "landingOf">, Omit<CommandPorts, "signal"> {
  readonly commands: TestMergedPorts["commands"];
  readonly predictions: Predictions;
  readonly protection: Protection;
  readonly places: Places;
  readonly signal: AbortSignal;
  readonly settingsOf: SettingsOf;
  /** Overrides of the defaults, for tests. */
  readonly landing: Partial<Landing>;
}

/** Creates the services that work with projects' repositories. */
export function createRepositories(given: RepositoriesPorts): Repositories {
  const { places, signal, settingsOf, where, landing } = given;
  const ports: MergingPorts & RepositoriesPorts = {
    ...given,
    async landingOf(project, own) {
      const { testMerges } = settingsOf(project);
      const test: LandPorts["test"] = testMerges
        ? (commit, merged) => given.inTurn(mergeTests(project), () => testMerged(given, own, project, commit, merged))
        : undefined;
      return { workspaces: places.workspaces, signal, inTurn: given.inTurn, where: where(), test, ...landing };
    },
  };
  const testsOf = async (project: Project) => {
    const { testMerges, testCommand } = settingsOf(project);
    if (testCommand.length > 0) return { testMerges, command: testCommand };
    const { findTestCommand } = await import("../../project-tests/find-test-command.ts");
    const search = findTestCommand(projectFiles(project.path));
    return { testMerges, command: search.kind === "found" ? search.commands[0].argv : [] };
  };
  return { ...ports, merging: createMerging(ports), testsOf };
}

/** The mutex key of the folder in which a project's merges are tested: several branches of it may be merged into at once. */
function mergeTests({ name }: Project): string {
  return `merge tests ${name}`;
}

export interface TestMergedPorts extends CommandPorts {
  readonly commands: Pick<StoppableCommands, "run" | "endFormer">;
  readonly store: Store;
  readonly places: Places;
  readonly settingsOf: SettingsOf;
  readonly protection: Pick<Protection, "wordsOf">;
}

/**
 * Checks out a commit that is on no branch yet, and runs the project's tests on it. The checkout is a separate clone, whatever
 * kind the project's workspaces are.
 */
async function testMerged(
  ports: TestMergedPorts,
  own: ProjectWorkspaces,
  project: Project,
  commit: string,
  merged: readonly Merged[],
): Promise<Tested> {
  const [first] = merged;
  const task = first && (await ports.store.getTask(first.entry.task))?.task;
  if (task === undefined) return "passed";
  const folder = join(ports.places.workspaces, ".merging", project.name);
  await checkOut(ports, own, { project, commit, folder, task, ref: "refs/signalbox/merging/tested" });
  const run = performTests({ ...ports, folderOf: async () => folder, portOf: async () => undefined });
  try {
    await run({ action: "run_tests", params: {} }, { task, key: `merge:${commit}` });
    return "passed";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // No test command is not a failure, unless the project requires tests: then the code is `tests`.
    if (error.code === "untested") return "none";
    if (error.code !== "tests" && error.code !== "tests.timeout") throw error;
    return { failing: `The tests fail on the result of the merge. ${error.message}` };
  }
}

interface Checkout {
  readonly project: Project;
  readonly commit: string;
  readonly folder: string;
  readonly task: Task;
  /** A ref of the control repository that keeps the commit reachable, so that its checkout can be reused. */
  readonly ref: string;
  /** Whether a setup command is detected if none is configured: no agent has installed anything there. */
  readonly findsSetup?: boolean;
}

/** Checks out a commit in a folder of ours, in which no agent works, and sets it up. */
export async function checkOut(
  ports: TestMergedPorts,
  own: ProjectWorkspaces,
  { project, commit, folder, task, ref, findsSetup = false }: Checkout,
): Promise<void> {
  const settings = ports.settingsOf(project);
  const kind = await own.kindOf("clone");
  // Tests of a daemon that was killed may still be running there, of this or of another commit.
  await ports.commands.endFormer(folder);
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await own.control.moveRef(ref, commit, await own.control.commitAt(ref));
  const branch = `merging/${commit.slice(0, 12)}`;
  const order = { folder, branch, base: commit, existing: true, salvaged: true, keep: settings.keep };
  const { how } = await kind.prepare(order);
  // The tests of other work have run in this folder, and may have changed what the setup installed.
  const words = () => ports.protection.wordsOf(task, commit);
  const planted = changedRunners(installed.get(folder) ?? {}, await findRunners(folder, words));
  if (how === "ready" && planted.length === 0) return;
  await removeInstalled(own.control, commit, folder, planted);
  const setup = settings.setup.length > 0 || !findsSetup ? settings.setup : await detectedSetup(folder);
  await furnish(ports, kind, { ...settings, setup }, folder, project, task, commit);
  installed.set(folder, await findRunners(folder, words));
}

/** The runners in each of these folders after its setup. Forgotten with the daemon, and then installed again. */
const installed = new Map<string, Runners>();

async function detectedSetup(folder: string): Promise<readonly string[]> {
  const { findSetupCommand } = await import("../../project-tests/find-test-command.ts");
  return findSetupCommand(projectFiles(folder))?.argv ?? [];
}

async function furnish(
  ports: TestMergedPorts,
  kind: Awaited<ReturnType<ProjectWorkspaces["kindOf"]>>,
  { copy, link, setup, setupTimeout }: ProjectSettings,
  folder: string,
  project: Project,
  task: Task,
  commit: string,
): Promise<void> {
  if (copy.length > 0) await kind.copyFiles({ folder, patterns: copy, how: "copy" });
  if (link.length > 0) await kind.copyFiles({ folder, patterns: link, how: "link" });
  if (setup.length === 0) return;
  const file = join(ports.places.logs, "setup", `${project.name}-merging.log`);
  const command = { name: "setup", argv: setup, timeout: setupTimeout, file } as const;
  const workspace = { id: "", project: project.name, task: task.id, at: 0, path: folder, kind: "clone" } as const;
  await runInWorkspace(ports, command, workspace, task, `setup:${commit}`);
}
