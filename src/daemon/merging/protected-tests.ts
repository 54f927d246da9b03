import { join } from "node:path";
import { describeProtected } from "../../engine/protected-lines.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import type { Project } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import type { ProjectFiles } from "../../project-tests/finders.ts";
import { globOf } from "../../project-tests/glob.ts";
import { testsOf } from "../effects/tests.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project.ts";
import type { Protection } from "../protection.ts";
import type { Submit } from "../submit.ts";
import { taskCommit } from "../task-work.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "../workspaces/project-workspaces.ts";
import { checkOut, type TestMergedPorts } from "./test-merged.ts";

interface ProtectedTestsPorts extends TestMergedPorts {
  readonly clock: Clock;
  readonly inTurn: Turns;
  readonly workspacesOf: WorkspacesOf;
  readonly submit: Submit;
  readonly protection: Protection;
  /** The files of a workspace, as they are on the disk. */
  filesIn(folder: string): ProjectFiles;
  folderOf(task: Task): Promise<string>;
  portOf(task: Task): Promise<number | undefined>;
}

/**
 * Runs the tests of a task's work. Work that changes what decides about work is tested both ways: in a checkout of ours with
 * the base's protected files in place of its own, and in its workspace as it is. So is work in whose workspace the commit's
 * files are not alone: files that are not committed must not decide. The first way decides. Which commit was tested is stored
 * with the task.
 */
export function protectedTests(ports: ProtectedTestsPorts): Perform {
  const run = runProtected(ports);
  const { store, submit } = ports;
  return async (effect, context) => {
    const { id } = context.task;
    const isStaleOnly = effect.params.only === "stale";
    const commit = await commitOf(ports, context.task);
    const tested = (await store.getTask(id))?.task.tested;
    if (isStaleOnly && commit !== undefined && tested?.commit === commit && tested.word === "ok") return;
    const note = async (word: string) => {
      if (commit === undefined) return;
      await submit(id, { kind: "edit", actor: { role: "engine" }, set: { tested: { commit, word } } });
    };
    try {
      await run(effect, context);
    } catch (error) {
      if (!(error instanceof Fault) || !noted.has(error.code)) throw error;
      await note(error.code);
      if (isStaleOnly && error.code === "untested") return;
      throw error;
    }
    await note("ok");
  };
}

/** How tests can end that say something about a commit. */
const noted = new Set(["tests", "untested"]);

async function commitOf({ store, workspacesOf }: ProtectedTestsPorts, task: Task): Promise<string | undefined> {
  const project = await projectOf(store, task.project);
  return taskCommit(await workspacesOf(project), project, task);
}

function runProtected(ports: ProtectedTestsPorts): Perform {
  const { store, protection, inTurn, places } = ports;
  const workOf = async (task: Task) => {
    const project = await projectOf(store, task.project);
    const own = await ports.workspacesOf(project);
    return { project, own, commit: await taskCommit(own, project, task) };
  };
  const baseCommandOf = async (task: Task, folder: string) => {
    const { commit } = await workOf(task);
    return commit === undefined ? undefined : protection.commandOf(task, commit, ports.filesIn(folder));
  };
  const inWorkspace = testsOf({ ...ports, baseCommandOf });
  return async (effect, context) => {
    const { task, key } = context;
    const { project, own, commit } = await workOf(task);
    if (commit === undefined) return inWorkspace(effect, context);
    await mustBeCommitted(protection, task, commit, ports.filesIn(await ports.folderOf(task)));
    const found = await protection.mark(task, commit);
    const isProtected = found.changes.length + found.runners.length > 0;
    const beside = isProtected ? [] : await filesBeside(ports, own, project, task);
    if (!isProtected && beside.length === 0) return inWorkspace(effect, context);
    // Tests that fail with these files need no second look.
    if (!isProtected) await inWorkspace(effect, context);
    const folder = join(places.workspaces, ".testing", project.name);
    const tested = await protection.asTheBaseHas(task, found);
    const ofBase = testsOf({ ...ports, baseCommandOf, folderOf: async () => folder, portOf: async () => undefined });
    const checkout = { project, folder, task, ref: "refs/signalbox/merging/protected", findsSetup: true };
    const base = await inTurn(`testing ${project.name}`, async () => {
      const failed = await endOfSetup(() => checkOut(ports, own, { ...checkout, commit: tested }), isProtected);
      if (failed !== undefined) return failed;
      return endOf(() => ofBase(effect, { task, key: `${key}:base` }), ports.signal, true);
    });
    if (!isProtected) {
      if (base !== undefined) throw besideFault(base, commit, beside);
      return;
    }
    const work = await endOf(() => inWorkspace(effect, context), ports.signal, false);
    const data = { commit, base: base?.code ?? "ok", work: work?.code ?? "ok" };
    await store.addEvents(task.id, [{ type: "protected.tested", by: "engine", data, set: {} }], ports.clock.now());
    if (base === undefined) return;
    const how = `The tests were run with the base's protected files. ${describeProtected(found.lines)}`;
    throw new Fault(base.code, `${base.message}\n${how}`, { hint: base.hint ?? "", retry: base.retry, cause: base });
  };
}

/** Folders of dependencies and caches, besides those that the project keeps. */
const installedFolders = ["node_modules", ".venv", "venv", "vendor", "__pycache__", ".pytest_cache", ".gradle"];

/** The files in the task's workspace that its commit does not have, except for what is installed or copied there. */
async function filesBeside(
  { settingsOf }: ProtectedTestsPorts,
  { kind }: ProjectWorkspaces,
  project: Project,
  { workspace }: Task,
): Promise<readonly string[]> {
  if (workspace === "") return [];
  const { keep, copy, link } = settingsOf(project);
  const ours = [...copy, ...link].map(globOf);
  const paths = await kind.uncommittedPaths(workspace, [...keep, ...installedFolders]);
  return paths.filter((path) => !ours.some((glob) => glob.test(path.replace(/\/$/, ""))));
}

/** Where a checkout cannot be set up, tests of a workspace with other files are a claim. */
async function endOfSetup(run: () => Promise<void>, mustEnd: boolean): Promise<Fault | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (mustEnd || !(error instanceof Fault) || error.retry === "later") throw error;
    return new Fault("untested", `The commit could not be tested by itself: ${error.message}`, { cause: error });
  }
}

function besideFault(base: Fault, commit: string, beside: readonly string[]): Fault {
  const more = beside.length > maxNamed ? `, and ${beside.length - maxNamed} more` : "";
  const named = `${beside.slice(0, maxNamed).join(", ")}${more}`;
  const how = `The tests pass in the workspace, which has files that the commit ${commit.slice(0, 10)} does not have: ${named}. By itself, the commit counts.`;
  const hint = 'Commit what the tests need, or list what every workspace needs as "copy" in the configuration.';
  return new Fault(base.code, `${base.message}\n${how} ${hint}`, {
    hint: base.hint ?? "",
    retry: base.retry,
    cause: base,
  });
}

const maxNamed = 5;

/** Tests of files that are not part of the work prove nothing about the work. */
async function mustBeCommitted(protection: Protection, task: Task, commit: string, files: ProjectFiles): Promise<void> {
  const lines = await protection.uncommitted(task, commit, files);
  if (lines.length === 0) return;
  const what = `Protected files in the workspace differ from the commit ${commit.slice(0, 10)}: ${lines.join("; ")}.`;
  throw new Fault("tests", `${what} Commit these files or restore them.`);
}

/** Results of tests. Everything else says nothing about the work. */
const results = new Set(["tests", "tests.timeout", "untested"]);

/** How the tests ended: a Fault, or undefined where they passed. */
async function endOf(run: () => Promise<void>, signal: AbortSignal | undefined, mustEnd: boolean) {
  try {
    await run();
    return undefined;
  } catch (error) {
    const isResult = error instanceof Fault && (results.has(error.code) || !mustEnd);
    if (!isResult || signal?.aborted) throw error;
    return error;
  }
}
