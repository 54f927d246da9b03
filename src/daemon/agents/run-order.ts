import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { AgentOrder } from "../../engine/decision.ts";
import { readDuration } from "../../engine/duration.ts";
import { buildPrompt, type OutsideValues } from "../../engine/prompt.ts";
import { requirementOf } from "../../engine/requirement.ts";
import type { Task } from "../../engine/task.ts";
import type { RunSpec, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { AgentConfig } from "../../home/agent-fields.ts";
import { agentVariables } from "../../home/environment.ts";
import type { Places } from "../../home/places.ts";
import { readSize } from "../../home/workspace-fields.ts";
import type { Git } from "../../ports/git.ts";
import type { HarnessOrder, Launch } from "../../ports/harness.ts";
import type { Processes, ProcessTable } from "../../ports/processes.ts";
import type { Run } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Terminal } from "../../ports/terminal.ts";
import { oneLine } from "../../text.ts";
import { placeNameOf } from "../landing-place.ts";
import { eventsOf, remoteOf, uuid8Of } from "../project.ts";
import type { DiffOf } from "../prompt-diff.ts";
import { parsedDocument } from "../task-documents.ts";

/** The order that a run was started with: needed to read its end, and to ask it again. */
export interface KeptOrder {
  readonly spec: RunSpec;
  /** Without secrets: each program gets its environment anew. */
  readonly order: Omit<HarnessOrder, "env" | "mcp">;
}

export async function writeOrder(folder: string, spec: RunSpec, order: HarnessOrder): Promise<void> {
  const { env: _, mcp: __, ...rest } = order;
  const kept: KeptOrder = { spec, order: rest };
  await writeFile(join(folder, "harness.json"), JSON.stringify(kept), { mode: 0o600 });
}

export async function readOrder(folder: string): Promise<KeptOrder> {
  return JSON.parse(await readFile(join(folder, "harness.json"), "utf8")) as KeptOrder;
}

export interface EnvironmentPorts {
  /** The daemon's own environment. */
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  readonly places: Places;
  /** Further variables that the user's configuration lets through. */
  allowed(): readonly string[];
}

interface RunVariables {
  readonly token: string;
  readonly task: string;
  readonly role: string;
  readonly run: string;
  readonly taskFile: string;
  readonly events: string;
  readonly port: number | undefined;
}

export function runEnvironment(
  { env, home, places, allowed }: EnvironmentPorts,
  run: RunVariables,
): Readonly<Record<string, string>> {
  const names = [...agentVariables, ...Object.keys(env).filter((name) => name.startsWith("LC_")), ...allowed()];
  const taken = names.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(taken),
    PATH: [places.bin, env.PATH ?? "/usr/local/bin:/usr/bin:/bin"].join(delimiter),
    TERM: "xterm-256color",
    SIGNALBOX_HOME: home,
    SIGNALBOX_TOKEN: run.token,
    SIGNALBOX_TASK: run.task,
    SIGNALBOX_ROLE: run.role,
    SIGNALBOX_RUN: run.run,
    SIGNALBOX_TASK_FILE: run.taskFile,
    SIGNALBOX_EVENTS: run.events,
    ...(run.port === undefined ? {} : { PORT: String(run.port), SIGNALBOX_PORT: String(run.port) }),
  };
}

/**
 * The file that a run's hooks write to. Its full path is in the environment of every process of the run. In a folder of its
 * own, which a sandboxed run may write to. Runs that were started by earlier versions have it beside the run's other files.
 */
export function eventsFile({ runs }: Pick<Places, "runs">, name: string): string {
  const folder = join(runs, name);
  const hooks = join(folder, "hooks");
  return join(existsSync(folder) && !existsSync(hooks) ? folder : hooks, "events");
}

/** Creates the folder of a run with the folder that its hooks write to, and returns the path of both. */
export async function makeRunFolder({ runs }: Pick<Places, "runs">, name: string) {
  const runFolder = join(runs, name);
  await mkdir(join(runFolder, "hooks"), { recursive: true, mode: 0o700 });
  return { runFolder, events: eventsFile({ runs }, name) };
}

/** An environment variable that only the processes of this run have. */
export function runMark(places: Places, name: string): string {
  return `SIGNALBOX_EVENTS=${eventsFile(places, name)}`;
}

/**
 * The variables that Signalbox's own programs need. Not every harness passes its environment on to the servers that it
 * starts.
 */
export function ownVariables(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith("SIGNALBOX_")));
}

/** The name of a run's pane, process and folder. Its role may be any word; the number is unique within the task. */
export function runName(task: string, key: string): string {
  return `${task}-${key.slice(key.lastIndexOf("#") + 1)}`;
}

/** The name of a run's process; each time the run is asked again is another process. */
export function processName({ name, part }: NonNullable<Run["started"]>): string {
  return part === 0 ? name : `${name}-${part + 1}`;
}

/** The tmux session of a task; contains no text that a person or an agent has written. */
export function terminalSession(task: string): string {
  return `sb-${task}`;
}

/** The name that people see. */
export function sessionTitle({ project, branch }: { readonly project: string; readonly branch: string }): string {
  return `${project}/${branch}`;
}

export function runRecordId(task: string, key: string): string {
  return `${task}/${key}`;
}

interface PromptPorts {
  readonly store: Store;
  readonly places: Pick<Places, "logs">;
  /** Missing where there is no git. */
  readonly diffOf?: DiffOf;
  readonly git?: Pick<Git, "remoteUrl"> | undefined;
  workflowOf(task: Task): Promise<Workflow>;
}

/** The prompt of a run. Values are data: placeholders inside them are not filled in. */
export async function runPrompt(
  ports: PromptPorts,
  { workflow, task, project, order, taskFile, port }: PromptOrder,
): Promise<string> {
  const values = await outsideValues(ports, task, project, taskFile, port);
  const asked = `${workflow.prompts[order.prompt] ?? ""}${order.message ?? ""}`;
  const asksForDiff = asked.includes("{diff}") && ports.diffOf !== undefined;
  const outside = {
    ...values,
    tools: (order.spec.tools ?? []).join(", "),
    ...(asksForDiff ? { diff: await ports.diffOf(task) } : {}),
    ...(asked.includes("{context}") ? { context: await contextOf(ports.store, task) } : {}),
    ...(asked.includes("{repo_url}") ? { repo_url: await repositoryUrl(ports.git, project) } : {}),
    ...(asked.includes("{previous_stages}") ? { previous_stages: await previousStages(ports.store, task) } : {}),
  };
  const built = buildPrompt(workflow, task, order.prompt, outside, order.message);
  if (built.ok) return built.text;
  throw new Fault("agents.prompt", `The prompt cannot be built. ${built.problem}`, {
    hint: `Fix the workflow's file, then: signalbox task migrate ${task.id}`,
  });
}

interface PromptOrder {
  readonly workflow: Workflow;
  readonly task: Task;
  readonly project: Project;
  readonly order: Pick<AgentOrder, "prompt" | "message" | "spec">;
  readonly taskFile: string;
  readonly port: number | undefined;
}

async function outsideValues(
  { store, places, workflowOf }: PromptPorts,
  task: Task,
  project: Project,
  taskFile: string,
  port: number | undefined,
): Promise<OutsideValues> {
  const merge = await store.merges.get(task.id);
  const parent = task.parent === "" ? undefined : (await store.getTask(task.parent))?.task;
  return {
    cli: "signalbox",
    task_file: taskFile,
    default_branch: project.defaultBranch,
    base: (await placeNameOf(store, project, task)).target,
    port: port === undefined ? "" : String(port),
    requirement: await wholeRequirement({ store, workflowOf }, task),
    slug: slugOf(task.summary),
    uuid8: uuid8Of(task),
    conflicts: merge?.state === "conflict" ? merge.files.join("\n") : "",
    merge_command: merge?.state === "conflict" || merge?.state === "tests" ? (merge.command ?? "") : "",
    tests: await lastTests(places, task),
    ...(parent === undefined
      ? {}
      : { "parent.branch": parent.branch, "parent.summary": oneLine(parent.summary), "parent.id": parent.id }),
  };
}

async function contextOf(store: Store, { id }: Task): Promise<string> {
  return (
    parsedDocument(await store.getDocument(id))
      .byHeading.get("Context")
      ?.body.trim() ?? ""
  );
}

/** Agents see it, so it must not contain a password. The user in ssh://git@host is no secret. */
async function repositoryUrl(git: PromptPorts["git"], project: Project): Promise<string> {
  const address = git === undefined ? undefined : await remoteOf(git, project, "fetch");
  if (address === undefined) return project.path;
  return address.replace(/^(https?:\/\/)[^/?#]*@/i, "$1").replace(/^(\w+:\/\/[^/?#:@]*):[^/?#]*@/, "$1@");
}

async function previousStages(store: Store, { id }: Task): Promise<string> {
  const states = new Set<string>();
  for await (const { event } of eventsOf(store, id))
    if (event.type === "task.moved" && typeof event.data.from === "string") states.add(event.data.from);
  return [...states].join(", ");
}

const maxDepth = 20;

/** A part has its parent's requirement: what the person asked for. */
async function wholeRequirement({ store, workflowOf }: Omit<PromptPorts, "places">, task: Task): Promise<string> {
  let whole = task;
  for (let depth = 0; whole.part !== undefined && depth < maxDepth; depth++) {
    const parent = (await store.getTask(whole.parent))?.task;
    if (parent === undefined) break;
    whole = parent;
  }
  return requirementOf(await workflowOf(whole), whole);
}

function slugOf(summary: string): string {
  const words = summary
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return words.slice(0, 40).replace(/-+$/, "");
}

const maxTestLog = 8_000;

/** The end of the log of the last stay's tests, where failures are reported. */
async function lastTests({ logs }: Pick<Places, "logs">, { id, entry }: Task): Promise<string> {
  for (const stay of [entry, entry - 1]) {
    try {
      return (await readFile(join(logs, "tests", `${id}-${stay}.log`), "utf8")).slice(-maxTestLog);
    } catch {
      // That stay ran no tests.
    }
  }
  return "";
}

export interface LaunchPorts {
  readonly store: Pick<Store, "getTask">;
  readonly terminal: Terminal;
  readonly processes: Processes;
  readonly table: ProcessTable;
  config(): AgentConfig;
  /** Starts a program unless the brake is on for its run, also if the brake comes on meanwhile: `Brake.unlessHeld`. */
  unlessHeld<T>(run: Run, open: (check: () => void) => Promise<T>): Promise<T>;
}

/**
 * Starts the program of a run, and returns the run with its process. A fault where the task no longer wants the run, or a
 * person is ending it: preparing a program may take long, and nothing else would end what is started too late.
 */
export function launchRun(ports: LaunchPorts, run: Run, launch: Launch, runFolder: string): Promise<Run> {
  return ports.unlessHeld(run, async (check) => {
    const task = (await ports.store.getTask(run.task))?.task;
    if (task === undefined || !isWanted(task, run.key)) throw superseded();
    check();
    return identified(ports, { ...run, pid: await openProgram(ports, task, run, launch, runFolder) });
  });
}

/** Why a run is not started that its task no longer wants, or that a person is ending. */
export function superseded(): Fault {
  return new Fault("agents.superseded", "The task no longer wants this run.", { retry: "later" });
}

export function isSuperseded(error: unknown): boolean {
  return error instanceof Fault && error.code === "agents.superseded";
}

export function isWanted(task: Task, run: string): boolean {
  return Object.values(task.runs).some(({ key }) => key === run);
}

/**
 * A pid can be reused. Together with its process identity the program is found again, whatever happens to its window.
 */
export async function identified({ table }: Pick<LaunchPorts, "table">, run: Run): Promise<Run> {
  const process = run.pid === 0 ? undefined : await table.identify(run.pid);
  return run.started === undefined || process === undefined ? run : { ...run, started: { ...run.started, process } };
}

async function openProgram(
  { terminal, processes, config }: LaunchPorts,
  task: Task,
  { started, folder }: Run,
  { argv, env, input }: Launch,
  runFolder: string,
): Promise<number> {
  if (started === undefined) return 0;
  if (started.mode !== "session") {
    const id = processName(started);
    await processes.start({
      id,
      argv,
      cwd: folder,
      env,
      input,
      timeLimit: (readDuration(config().agentsTimeLimit) ?? 7_200) * 1000,
      outputLimit: readSize(config().agentsOutputLimit) ?? 64 * 1024 ** 2,
    });
    const state = await processes.look(id);
    return state.kind === "running" ? state.identity.pid : 0;
  }
  const session = terminalSession(task.id);
  await closeDeadWindows(terminal, session, started.window);
  const pane = await terminal.open({
    ...{ run: started.name, session, window: started.window, argv, env, cwd: folder },
    title: sessionTitle(task),
    folder: runFolder,
  });
  return pane.pid;
}

/** A new window replaces the dead window of the same role. */
async function closeDeadWindows(terminal: Terminal, session: string, window: string): Promise<void> {
  for (const pane of await terminal.list()) {
    if (pane.session === session && pane.window === window && pane.dead !== undefined) await terminal.close(pane.run);
  }
}
