import type { TaskEvent } from "../engine/decision.ts";
import { describeProtected } from "../engine/protected-lines.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import { createMemo } from "../keyed.ts";
import { beganRef, type ControlRepository, taskRef } from "../ports/control-repository.ts";
import type { Project, Store } from "../ports/store.ts";
import type { Clock } from "../ports/system.ts";
import type { ProjectFiles } from "../project-tests/finders.ts";
import { globOf } from "../project-tests/glob.ts";
import type { ProtectedChange } from "../project-tests/protected.ts";
import { sha256 } from "../sha256.ts";
import { type CommitFiles, commitFiles, readingCommits } from "./commit-files.ts";
import type { Core } from "./core.ts";
import { type ForeignCommits, foreignCommits } from "./foreign-commits.ts";
import { lastSeen, placeOf, type Where } from "./landing-place.ts";
import { eventsOf, parentOf, projectOf, targetOf } from "./project.ts";
import type { Submit } from "./submit.ts";
import { taskCommit } from "./task-work.ts";
import type { SettingsOf } from "./workspaces/project-settings.ts";
import type { WorkspacesOf } from "./workspaces/project-workspaces.ts";
import { changedRunners, findRunners, type Runners } from "./workspaces/runners.ts";

interface ProtectionPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly submit: Submit;
  readonly workspacesOf: WorkspacesOf;
  readonly settingsOf: SettingsOf;
  workflowOf(task: Task): Promise<Workflow>;
  where(): Where;
}

/** What a task's work at one commit has changed of the things that decide about work. */
export interface Protected {
  /** The commit that it is compared with. */
  readonly base: string;
  readonly commit: string;
  readonly changes: readonly ProtectedChange[];
  /** Installed programs that run the tests, and that differ from what the setup installed. */
  readonly runners: readonly string[];
  /** Commits that belong to other open tasks. */
  readonly foreign: readonly string[];
  /** The changes in words for people, one each. */
  readonly lines: readonly string[];
  /** A hash of the changed contents; empty if there are none. */
  readonly content: string;
}

/** The workflow's word for work that a person must see before it is merged. */
export const protectedWord = "protected";

/** Finds changes to what decides about work, marks tasks with them, and knows which of them a person has confirmed. */
export interface Protection {
  of(task: Task, commit: string): Promise<Protected>;
  /** The same, and marks the task. An event records every new content. */
  mark(task: Task, commit: string): Promise<Protected>;
  /** Whether a person has had this content merged, or has moved or continued the task since it was marked with it. */
  isConfirmed(task: string, found: Protected): Promise<boolean>;
  /** Whether the task is marked with this content, so that a person can have seen it. */
  isMarked(task: string, found: Protected): Promise<boolean>;
  confirm(task: string, found: Protected): Promise<void>;
  /**
   * Refuses to merge changes that no person has confirmed, with the word `protected`. For merges that a workflow performs:
   * no workflow can forget it.
   */
  mustBeConfirmed(task: Task, commit: string): Promise<void>;
  /** The test command of the base. Undefined if the base has none. `folder`: where the tests run. */
  commandOf(task: Task, commit: string, folder: ProjectFiles): Promise<BaseCommand | undefined>;
  /**
   * The protected files of a workspace that differ from its commit, in words for people. Git is not asked which files
   * differ: an agent can make it ignore them.
   */
  uncommitted(task: Task, commit: string, folder: ProjectFiles): Promise<readonly string[]>;
  /** The words of the commands that test a commit, through the scripts that they run. */
  wordsOf(task: Task, commit: string): Promise<readonly string[]>;
  /** A commit of the work with the base's protected files in place of its own; the work's commit if it changes none. */
  asTheBaseHas(task: Task, found: Protected): Promise<string>;
}

interface BaseCommand {
  readonly argv: readonly string[];
  /** As a sentence. */
  readonly why: string;
}

const nothing = { changes: [], runners: [], foreign: [], lines: [], content: "" };

export function createProtection(ports: ProtectionPorts): Protection {
  const { store, clock } = ports;
  const known = createMemo<Protected>({});
  const repositoryOf = async (task: Task) => {
    const project = await projectOf(store, task.project);
    const own = await ports.workspacesOf(project);
    return { project, own, control: own.control };
  };

  const configuredFor = async (project: Project, task: Task) => {
    const { testCommand } = ports.settingsOf(project);
    return [...(testCommand.length > 0 ? [testCommand] : []), ...commandsIn(await ports.workflowOf(task))];
  };

  const of = async (task: Task, commit: string): Promise<Protected> => {
    const { project, own, control } = await repositoryOf(task);
    const base = await baseOf(ports, control, project, task, commit);
    if (base === "") return { base, commit, ...nothing };
    const { protect } = ports.settingsOf(project);
    const configured = await configuredFor(project, task);
    const runners = await planted(task, () => wordsOf(control, base, configured));
    if (base === commit) return withRunners({ base, commit, ...nothing }, runners);
    const key = JSON.stringify([control.folder, base, commit, configured, protect]);
    const found = await known.get(key, () => compare(control, base, commit, configured, protect));
    const place = await placeOf({ store, where: ports.where() }, own, project, task);
    return withForeign(withRunners(found, runners), await foreignCommits(store, control, project, place, task, commit));
  };
  /** Runners in the task's workspace that differ from what the setup installed. */
  const planted = async (task: Task, words: () => Promise<readonly string[]>): Promise<Runners> => {
    const [workspace] = task.workspace === "" ? [] : await store.workspaces.list({ task: task.id });
    if (workspace?.runners === undefined || workspace.path !== task.workspace) return {};
    const now = await findRunners(workspace.path, words);
    return Object.fromEntries(changedRunners(workspace.runners, now).map((path) => [path, now[path] ?? ""]));
  };
  const mark = async (task: Task, commit: string): Promise<Protected> => {
    const found = await of(task, commit);
    const { base, lines: changes, content } = found;
    const marks = await marksOf(store, task.id);
    if (marks.content !== content) {
      const data = { base, commit, changes, content };
      await store.addEvents(task.id, [{ type: "protected.changed", by: "engine", data, set: {} }], clock.now());
    }
    if ((task.protectedChanges ?? []).join("\n") !== changes.join("\n"))
      await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { protectedChanges: changes } });
    return found;
  };
  /** Whether a part has its protected changes from its parent's branch, into which they came with a person's consent. */
  const isInherited = async (task: Task, commit: string) => {
    const parent = parentOf(task);
    if (parent === "") return false;
    const { project, control } = await repositoryOf(task);
    const tip = await control.commitAt(taskRef(parent));
    const begin = tip && (await control.mergeBase(tip, commit));
    if (begin === undefined) return false;
    const { protect } = ports.settingsOf(project);
    return (await compare(control, begin, commit, await configuredFor(project, task), protect)).content === "";
  };
  const isConfirmed = async (task: string, { content }: Protected) =>
    content === "" || (await marksOf(store, task, content)).isConfirmed;
  const confirm = async (task: string, { commit, lines: changes, content }: Protected) => {
    if (content === "" || (await marksOf(store, task, content)).wasConfirmed) return;
    const event: TaskEvent = { type: "protected.confirmed", by: "human", data: { commit, changes, content }, set: {} };
    await store.addEvents(task, [event], clock.now());
  };

  return {
    of,
    mark,
    isConfirmed,
    confirm,
    isMarked: async (task, { content }) => (await marksOf(store, task)).content === content,
    async mustBeConfirmed(task, commit) {
      // Before the mark, which would not be older than what the person did.
      const before = await of(task, commit);
      if (before.content === "") return void (await mark(task, commit));
      const isOwn = before.runners.length > 0 || before.foreign.length > 0;
      if (!isOwn && (await isInherited(task, commit))) return;
      if (await isConfirmed(task.id, before)) return confirm(task.id, before);
      await mark(task, commit);
      throw new Fault(protectedWord, `${describeProtected(before.lines)} A person must see it before it is merged.`, {
        hint: seeIt(task),
      });
    },
    async commandOf(task, commit, folder) {
      const { project, control } = await repositoryOf(task);
      const base = await baseOf(ports, control, project, task, commit);
      return base === "" ? undefined : detect(commitFiles(control, base), folder);
    },
    async uncommitted(task, commit, folder) {
      const { project, control } = await repositoryOf(task);
      const { protect, copy, link } = ports.settingsOf(project);
      const changes = await differences(control, commit, folder, await configuredFor(project, task), protect);
      const ours = [...copy, ...link].map(globOf);
      return changes.flatMap(({ path, what }) => (ours.some((glob) => glob.test(path)) ? [] : [`${path} (${what})`]));
    },
    async wordsOf(task, commit) {
      const { project, control } = await repositoryOf(task);
      return wordsOf(control, commit, await configuredFor(project, task));
    },
    async asTheBaseHas(task, { base, commit, changes }) {
      if (changes.length === 0) return commit;
      const { control } = await repositoryOf(task);
      const files = changes.map(({ path, restored }) => ({ path, text: restored }));
      return control.replaceFiles({ commit, from: base, files });
    },
  };
}

/** The changes of a task's present work, as a warning. */
export async function warnOfProtected(
  { store, repositories }: Pick<Core, "store" | "repositories">,
  task: Task,
): Promise<readonly string[]> {
  const project = repositories && (await store.getProject(task.project));
  if (repositories === undefined || project === undefined) return [];
  try {
    const commit = await taskCommit(await repositories.workspacesOf(project), project, task);
    const found = commit === undefined ? undefined : await repositories.protection.of(task, commit);
    return found === undefined || found.content === "" ? [] : [describeProtected(found.lines)];
  } catch (error) {
    // What cannot be read is reported elsewhere.
    if (error instanceof Fault) return [];
    throw error;
  }
}

/** What a person can do about such work. */
export function seeIt({ id }: Pick<Task, "id">): string {
  return `See the changes: signalbox task diff ${id}\nTo merge them nevertheless: signalbox task merge ${id}`;
}

/**
 * The commit that a task's work is judged by: the newest commit of the target that the work contains. An agent can move its
 * branch to an older commit of the target, so it is never older than the commit that the work began at. Children are judged
 * by the commit that their root began at, because their parents' branches are the work of agents too.
 */
async function baseOf(
  { store, where }: ProtectionPorts,
  control: ControlRepository,
  project: Project,
  task: Task,
  commit: string,
): Promise<string> {
  const root = await rootOf(store, task);
  const target = targetOf(project, root);
  await control.syncFrom({ from: project.path, name: "user", only: [target] });
  const tip = await lastSeen(control, target, where());
  const common = tip === undefined ? undefined : await control.mergeBase(tip, commit);
  const began = (await control.commitAt(beganRef(root.id))) ?? (await control.commitAt(beganRef(task.id)));
  if (began === undefined) return common ?? tip ?? "";
  return common !== undefined && (await control.isAncestor(began, common)) ? common : began;
}

const maxDepth = 100;

async function rootOf(store: Store, task: Task): Promise<Task> {
  let root = task;
  for (let depth = 0; root.parent !== "" && depth < maxDepth; depth++) {
    const parent = (await store.getTask(root.parent))?.task;
    if (parent === undefined) break;
    root = parent;
  }
  return root;
}

/** The commands that a workflow names for its tests. */
function commandsIn({ states, ways }: Workflow): readonly (readonly string[])[] {
  const all = [...Object.values(states).flatMap((state) => state.do), ...ways.flatMap(({ hooks }) => hooks)];
  return all.flatMap(({ name, params }) =>
    name === "run_tests" && Array.isArray(params.command) && params.command.length > 0 ? [params.command] : [],
  );
}

async function compare(
  control: ControlRepository,
  base: string,
  commit: string,
  configured: readonly (readonly string[])[],
  protect: readonly string[],
): Promise<Protected> {
  const changed = (await control.changedFiles(base, commit)).flatMap(({ path, from }) => [
    path.text,
    ...(from === undefined ? [] : [from.text]),
  ]);
  const { protectedChanges, bestOf } = await loadJudges();
  const [before, work] = [commitFiles(control, base), commitFiles(control, commit)];
  const changes = await readingCommits([before, work], () => {
    const found = configured.length > 0 ? undefined : (bestOf(before) ?? bestOf(work));
    const commands = found === undefined ? configured : [found.argv];
    return protectedChanges({ base: before, work, changed, commands, protect });
  });
  if (changes.length === 0) return { base, commit, ...nothing };
  const ids = await readingCommits([before, work], () =>
    changes.map(({ path }) => [path, work.idOf(path), before.idOf(path)]),
  );
  const lines = changes.map(({ path, what }) => `${path} (${what})`);
  return { base, commit, changes, runners: [], foreign: [], lines, content: sha256(JSON.stringify([ids, lines])) };
}

function withRunners(found: Protected, runners: Runners): Protected {
  const paths = Object.keys(runners);
  if (paths.length === 0) return found;
  const lines = [...found.lines, ...paths.map((path) => `${path} (the test runner, changed since the setup)`)];
  return { ...found, runners: paths, lines, content: sha256(JSON.stringify([found.content, runners])) };
}

function withForeign(found: Protected, others: readonly ForeignCommits[]): Protected {
  if (others.length === 0) return found;
  const foreign = others.flatMap(({ commits }) => commits);
  const lines = [...found.lines, ...others.map(({ line }) => line)];
  return { ...found, foreign, lines, content: sha256(JSON.stringify([found.content, foreign.toSorted()])) };
}

async function wordsOf(
  control: ControlRepository,
  commit: string,
  configured: readonly (readonly string[])[],
): Promise<readonly string[]> {
  const { testSources, bestOf } = await loadJudges();
  const files = commitFiles(control, commit);
  return readingCommits([files], () => {
    const found = configured.length > 0 ? undefined : bestOf(files);
    return [...testSources(found === undefined ? configured : [found.argv], files).words];
  });
}

/** The protected files in a folder that differ from a commit: those in its root, and those that the tests run. */
async function differences(
  control: ControlRepository,
  commit: string,
  folder: ProjectFiles,
  configured: readonly (readonly string[])[],
  protect: readonly string[],
): Promise<readonly ProtectedChange[]> {
  const { protectedChanges, testSources, bestOf } = await loadJudges();
  const base = commitFiles(control, commit);
  return readingCommits([base], () => {
    const found = configured.length > 0 ? undefined : bestOf(base);
    const commands = found === undefined ? configured : [found.argv];
    const paths = [...base.list(""), ...folder.list(""), ...testSources(commands, base).files, ...deeper];
    const isFile = (path: string) => base.has(path) || folder.has(path);
    const changed = paths.filter((path) => isFile(path) && base.read(path) !== folder.read(path));
    return protectedChanges({ base, work: folder, changed, commands, protect });
  });
}

const deeper = ["bin/test", "script/test", ".cargo/config.toml", ".cargo/config", ".config/nextest.toml"];

interface Judges extends Pick<typeof import("../project-tests/protected.ts"), "protectedChanges"> {
  readonly testSources: typeof import("../project-tests/test-sources.ts")["testSources"];
  bestOf(files: ProjectFiles): BaseCommand | undefined;
}

let judges: Judges | undefined;

/** Loads on first use what brings parsers of TOML and JSON, which a daemon needs only once it tests or merges. */
export async function loadJudges(): Promise<Judges> {
  if (judges !== undefined) return judges;
  const [{ protectedChanges }, { testSources }, { findTestCommand }] = await Promise.all([
    import("../project-tests/protected.ts"),
    import("../project-tests/test-sources.ts"),
    import("../project-tests/find-test-command.ts"),
  ]);
  const bestOf = (files: ProjectFiles) => {
    const search = findTestCommand(files);
    return search.kind === "found" ? search.commands[0] : undefined;
  };
  judges = { protectedChanges, testSources, bestOf };
  return judges;
}

/** Programs in folders that git ignores, which a setup installs. */
const installed = ["vendor/bin/phpunit", ".venv/bin/pytest", "venv/bin/pytest"];

async function detect(base: CommitFiles, folder: ProjectFiles): Promise<BaseCommand | undefined> {
  const { bestOf } = await loadJudges();
  const canRun = (path: string) => base.canRun(path) || (installed.includes(path) && folder.canRun(path));
  return readingCommits([base], () => bestOf({ ...base, canRun }));
}

interface Marks {
  /** The content that the task is marked with now; empty if it is not marked. */
  readonly content: string;
  readonly wasConfirmed: boolean;
  readonly isConfirmed: boolean;
}

/** A person's acts that continue a task. */
const acts = new Set(["task.moved", "task.continued", "task.approved"]);

async function marksOf(store: Store, task: string, wanted = ""): Promise<Marks> {
  let [content, isByPerson, wasConfirmed] = ["", false, false];
  for await (const { event } of eventsOf(store, task)) {
    if (event.type === "protected.changed") {
      content = String(event.data.content);
      isByPerson = false;
    }
    if (event.type === "protected.confirmed") wasConfirmed ||= event.data.content === wanted;
    if (event.type === "task.moved" || (acts.has(event.type) && event.by === "human"))
      isByPerson = event.by === "human";
  }
  return { content, wasConfirmed, isConfirmed: wasConfirmed || (isByPerson && content === wanted) };
}
