import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunView } from "../../../src/api/agents.ts";
import type { Call } from "../../../src/api/client.ts";
import { routes } from "../../../src/api/routes.ts";
import type { EventView, TaskView } from "../../../src/api/tasks.ts";
import { createAsk, startDaemon } from "../daemon.ts";
import { createHome, type Home } from "../home.ts";
import { type CrowdTask, crowdScript, type Manner, manners } from "./crowd-script.ts";

export interface CrowdPlan {
  /** How many tasks of each of the three workflows. */
  readonly each: number;
  readonly seats: number;
  readonly live: number;
  readonly workspaces: number;
  /** How often the daemon is killed during the run. */
  readonly kills: number;
  /** Called after every poll. */
  onLook?(found: { readonly over: number; readonly asking: number; readonly working: number }): void;
}

export interface CrowdEnd {
  readonly home: Home;
  readonly tasks: readonly { readonly task: TaskView; readonly wanted: CrowdTask; readonly asks: boolean }[];
  /** The maximum number of agents seen working together, and how many programs were put to sleep. */
  readonly working: number;
  readonly slept: number;
  /** Calls that were made more than once for the same stay of a task. */
  readonly repeated: readonly string[];
  readonly calls: number;
}

const timeout = 1_200_000;
const sessionManners: readonly Manner[] = [
  "plain",
  "crash",
  "question",
  "failed",
  "plain",
  "hopeless",
  "failed",
  "dialog",
];

/**
 * Runs many tasks of three workflows in parallel, with fewer seats and workspaces than tasks: a real daemon, real git and
 * terminals, scripted agents of which some crash, ask and fail their review. A person merges and answers. Resolves when each
 * task has ended or asks for a person, and throws after a timeout.
 */
export async function liveCrowd({ each, seats, live, workspaces, kills, onLook }: CrowdPlan): Promise<CrowdEnd> {
  const wanted = planTasks(each);
  const plain = createHome(undefined, { isEmpty: true });
  const script = join(plain.base, "script.yml");
  writeFileSync(script, crowdScript(wanted));
  const home: Home = { ...plain, env: { ...plain.env, SIGNALBOX_SCRIPT: script } };
  prepare(home, wanted);
  writeFileSync(
    home.places.config,
    `agents: { environment: [NODE_COMPILE_CACHE], most: ${seats}, live: ${live} }\ntest_merges: false\n`,
  );
  let daemon = await startDaemon(home);
  try {
    const ask = createAsk(home);
    const project = { path: home.repository, name: "coffee", harness: "scripted", poolSize: workspaces };
    await ask(routes.addProject, { body: { ...project, fullPermissions: "allow" } });
    const made = new Map<string, CrowdTask>();
    for (const task of wanted) {
      const ticket = task.workflow === "crew" ? { ticket: ticketOf(task) } : { summary: task.summary };
      const body = { project: "coffee", workflow: task.workflow, ...ticket };
      made.set((await ask(routes.createTask, { body })).task.id, task);
    }
    let working = 0;
    let killed = 0;
    for (const end = Date.now() + timeout; ; await sleep(250)) {
      const tasks = await tasksOf(ask).catch(() => undefined);
      const runs = await ask(routes.listRuns, { query: {} }).then(
        (found) => found.runs,
        () => [],
      );
      if (tasks === undefined) continue;
      // An idle agent that a restarted daemon has just adopted is "starting" until its first sign is read.
      working = Math.max(working, runs.filter(({ activity }) => activity === "busy").length);
      await attend(ask, tasks, made);
      const over = tasks.filter(({ phase }) => phase === "over").length;
      const asking = tasks.filter((task) => task.phase !== "over" && asks(task, runs)).length;
      onLook?.({ over, asking, working });
      if (killed < kills && over >= ((killed + 1) * tasks.length) / (kills + 2)) {
        killed++;
        await daemon.kill();
        // A command of an agent may have started one meanwhile.
        for (const found of await startDaemon(home).then(
          (own) => [own],
          () => [],
        ))
          daemon = found;
        continue;
      }
      // Tasks that the person attends to have not finished.
      const isAtRest = tasks.every(
        (task) => task.phase === "over" || (asks(task, runs) && manners[mannerOf(made, task)] === "asks"),
      );
      const events = isAtRest ? await allEvents(ask, tasks) : [];
      // A task that asks causes a call, a few seconds later.
      const isCalled = (id: string) => events.some(({ task, type }) => task === id && type === "person.called");
      if (isAtRest && tasks.every(({ id, phase }) => phase === "over" || isCalled(id))) {
        return {
          ...{ home, working, repeated: repeatedCalls(events) },
          calls: events.filter(({ type }) => type === "person.called").length,
          tasks: tasks.map((task) => ({ task, wanted: wantedOf(made, task), asks: asks(task, runs) })),
          slept: events.filter(({ type }) => type === "agent.slept").length,
        };
      }
      if (Date.now() > end)
        throw new Error(
          `The crowd makes no progress in ${home.base}.\n${describe(tasks, runs)}\n${daemon.said().slice(-5_000)}`,
        );
    }
  } finally {
    await daemon.kill();
    try {
      execFileSync("tmux", ["-S", home.places.terminal, "kill-server"], { stdio: "ignore" });
    } catch {
      // The tmux server has already ended.
    }
  }
}

function planTasks(each: number): readonly CrowdTask[] {
  const tasks: CrowdTask[] = [];
  for (let number = 1; number <= each; number++) {
    const manner = sessionManners[(number - 1) % sessionManners.length] ?? "plain";
    tasks.push({ workflow: "default", manner, summary: `Default ${manner} ${number}` });
    // A dialog behaves the same in classic and default, and each task in a dialog keeps a workspace.
    const other = manner === "dialog" ? "question" : manner;
    tasks.push({ workflow: "classic", manner: other, summary: `Classic ${other} ${number}` });
    const crew = number % 3 === 2 ? "crash" : "plain";
    tasks.push({ workflow: "crew", manner: crew, summary: `Crew ${crew} ${number}` });
  }
  return tasks;
}

function ticketOf({ summary }: CrowdTask): string {
  return `cof-${summary.split(" ").at(-1) ?? ""}`;
}

function prepare({ repository }: Home, tasks: readonly CrowdTask[]): void {
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", repository, ...args]);
  git("symbolic-ref", "HEAD", "refs/heads/main");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.org");
  writeFileSync(join(repository, "recipe.md"), "beans\n");
  mkdirSync(join(repository, ".tickets"));
  for (const task of tasks.filter(({ workflow }) => workflow === "crew")) {
    const id = ticketOf(task);
    const head = [`id: ${id}`, "status: open", "deps: []", "links: []", "created: 2026-01-25T19:11:47Z", "type: task"];
    writeFileSync(
      join(repository, ".tickets", `${id}.md`),
      `---\n${head.join("\n")}\npriority: 2\n---\n# ${task.summary}\n`,
    );
  }
  git("add", "-A");
  git("commit", "-qm", "first");
}

async function tasksOf(ask: Call): Promise<readonly TaskView[]> {
  return (await ask(routes.listTasks, { query: { limit: "1000" } })).tasks;
}

/** A person answers questions and merges finished work. Hopeless tasks are left alone: they must keep asking. */
async function attend(ask: Call, tasks: readonly TaskView[], made: ReadonlyMap<string, CrowdTask>): Promise<void> {
  for (const task of tasks) {
    const isMine = task.needsPerson || ["reviewing", "clarification"].includes(task.status);
    if (!isMine || manners[mannerOf(made, task)] === "asks") continue;
    const params = { task: task.id };
    const isQuestion = task.status === "clarification";
    const asked = isQuestion
      ? ask(routes.answerTask, { params, body: { text: "The blue one.", ...classicTarget(task) } })
      : task.held === null
        ? ask(routes.mergeTask, { params, body: {} })
        : ask(routes.continueTask, { params, body: {} });
    await asked.catch(() => undefined);
  }
}

/** `classic` does not define where an answered task goes. */
function classicTarget({ workflow }: TaskView): { readonly to?: string } {
  return workflow === "classic" ? { to: "working" } : {};
}

function wantedOf(made: ReadonlyMap<string, CrowdTask>, { id }: TaskView): CrowdTask {
  const found = made.get(id);
  if (found === undefined) throw new Error(`The test did not create the task ${id}.`);
  return found;
}

function mannerOf(made: ReadonlyMap<string, CrowdTask>, task: TaskView): Manner {
  return wantedOf(made, task).manner;
}

function asks(task: TaskView, runs: readonly RunView[]): boolean {
  return task.needsPerson || isRaised(task, runs);
}

function isRaised({ id }: TaskView, runs: readonly RunView[]): boolean {
  return runs.some(({ task, raised, activity }) => task === id && (raised !== "" || activity === "asks"));
}

async function allEvents(ask: Call, tasks: readonly TaskView[]): Promise<readonly EventView[]> {
  const found = await Promise.all(
    tasks.map(async ({ id }) => (await ask(routes.listEvents, { query: { task: id, limit: "1000" } })).events),
  );
  return found.flat();
}

/** A need causes one call: a person who is called twice for the same need stops listening. */
function repeatedCalls(events: readonly EventView[]): readonly string[] {
  const keys = events
    .filter(({ type }) => type === "person.called")
    .map(({ task, data }) => `${task} ${String(data.reason)} ${String(data.since)} ${String(data.text)}`);
  return keys.filter((key, at) => keys.indexOf(key) !== at);
}

function describe(tasks: readonly TaskView[], runs: readonly RunView[]): string {
  const open = tasks.filter(({ phase }) => phase !== "over");
  return open
    .map(({ id, summary, status, phase, held, waiting }) => {
      const own = runs.filter(({ task }) => task === id).map(({ key, activity, what }) => `${key} ${activity} ${what}`);
      return `${summary}: ${status}, ${phase}, ${held?.reason ?? ""} ${waiting} [${own.join("; ")}]`;
    })
    .join("\n");
}
