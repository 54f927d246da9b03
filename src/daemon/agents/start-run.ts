import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { AgentOrder, TaskEvent } from "../../engine/decision.ts";
import { notInstalled, takeAnother } from "../../engine/held-advice.ts";
import type { ModelTiers } from "../../engine/model-tiers.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import type { Git } from "../../ports/git.ts";
import type { Harness, HarnessOrder } from "../../ports/harness.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock, Ids, Log } from "../../ports/system.ts";
import { type Callers, publishAgents } from "../callers.ts";
import type { CheckoutFor } from "../effects/checkout.ts";
import type { Perform } from "../perform.ts";
import { projectOf, targetOf } from "../project.ts";
import type { DiffOf } from "../prompt-diff.ts";
import type { Submit } from "../submit.ts";
import type { NewRun, TreeBudgets } from "./budgets.ts";
import type { Confine } from "./confine.ts";
import type { Dispatch } from "./dispatch.ts";
import { checkPermissions, type Harnesses, harnessNamed, harnessOf, lacks } from "./harnesses.ts";
import { missedMessages, noteMissed, promptKey, withMissed } from "./messages.ts";
import { chooseModel } from "./models.ts";
import { type GivenAgent, labelOf } from "./roster.ts";
import {
  type EnvironmentPorts,
  identified,
  isSuperseded,
  isWanted,
  type LaunchPorts,
  launchRun,
  makeRunFolder,
  processName,
  runName,
  runPrompt,
  runRecordId,
  sessionTitle,
  writeOrder,
} from "./run-order.ts";
import { hookCommand } from "./run-programs.ts";
import { environmentOf } from "./run-secrets.ts";
import type { UsageBook } from "./usage.ts";

export interface StartPorts extends LaunchPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly places: Places;
  readonly callers: Callers;
  readonly environment: EnvironmentPorts;
  readonly harnesses: Harnesses;
  readonly dispatch: Dispatch;
  readonly book: UsageBook;
  readonly budgets: Pick<TreeBudgets, "blockOf" | "reserve">;
  readonly confine: Confine;
  /** Missing where agents run without a sandbox. */
  readonly sandbox?: Sandbox;
  /** The models that tiers stand for in a project. */
  tiersOf(project: string): Promise<ModelTiers>;
  readonly submit: Submit;
  workflowOf(task: Task): Promise<Workflow>;
  /** The workspace of the task, where its agents work. Throws if it has none. */
  folderOf(task: Task): Promise<string>;
  /** The checkout of a judge; missing where there is no git. */
  readonly checkoutFor?: CheckoutFor;
  readonly diffOf?: DiffOf;
  readonly git?: Pick<Git, "remoteUrl"> | undefined;
  portOf(task: Task): Promise<number | undefined>;
  testCommandOf(project: Project): readonly string[];
  /** Writes the task's files into its workspace, and returns the name of the role's own file. */
  placeFiles(task: Task, role: string): Promise<string>;
  /** Watches a run that has started. */
  watch(run: Run): void;
  /** Why nothing is started for the project now, as a sentence; otherwise undefined. */
  paused(project: string): string | undefined;
  /** Called when a run has started, because a person may have paused everything meanwhile. */
  launched(run: Run): unknown;
  /** Resolves once no person is ending the run. */
  released(run: Pick<Run, "id" | "task">): Promise<void>;
  /** Closes the record of a run that its task no longer wants, and ends what may have been started of it. */
  discard(task: Task, run: string): Promise<void>;
  /** Sends a message to a run as soon as it listens. */
  tell(run: Run, text: string, key: string): Promise<void>;
}

/** The ports that the parts of `agents.ts` provide; its caller gives the others. */
export type OwnStartPorts = Pick<
  StartPorts,
  ("dispatch" | "book" | "budgets" | "watch" | "tell") | ("paused" | "launched" | "discard" | "unlessHeld" | "released")
>;

/** Starts an agent, or adopts the one that an earlier attempt has started: there are never two for one run. */
export function spawnAgent(ports: StartPorts): Perform {
  return async ({ agent: order }, { task, key }) => {
    if (order === undefined) throw new Fault("agents.order", "The effect names no run to start.");
    if (!isWanted(task, order.run)) return;
    const id = runRecordId(task.id, order.run);
    const known = await ports.store.runs.get(id);
    if (known?.endedAt !== undefined || known?.started?.asleepSince !== undefined) return;
    if (known?.started !== undefined && (await isThere(ports, known.started))) return adopt(ports, known, task);
    const harness = await chooseHarness(ports, order, task);
    // A harness without such a model is refused now, not after the wait for a seat.
    chooseModel(await ports.tiersOf(task.project), harness, order.model);
    ports.book.check(task, ports.clock.now());
    const run: NewRun = {
      ...{ id, key: order.run, role: order.role, harness: harness.name, limit: order.spec.limits.cost },
    };
    const seat = { run: id, task: task.id, project: task.project, harness: harness.name };
    const isNamed = (await ports.workflowOf(task)).agents === "named";
    const wants = isNamed ? { wants: { model: order.model, label: labelOf(task) } } : {};
    const askedAt = ports.clock.now();
    for (;;) {
      let agent: GivenAgent | undefined;
      try {
        agent = await ports.dispatch.enter({ ...seat, ...wants }, () => ports.budgets.blockOf(task.id, run));
      } catch (error) {
        if (isSuperseded(error)) return;
        throw error;
      }
      const seatedAt = ports.clock.now();
      try {
        // The run may have waited long, so the task is read again.
        const now = (await ports.store.getTask(task.id))?.task;
        if (now === undefined || !isWanted(now, order.run)) return ports.dispatch.left(id);
        // The day's budget may have been used up meanwhile.
        ports.book.check(now, ports.clock.now());
        const seated = { agent, askedAt, seatedAt };
        if (await start(ports, harness, now, order, key, run, seated)) return;
        // The project was paused, or another run took the rest of the budget, before the program was started.
        ports.dispatch.left(id);
      } catch (error) {
        ports.dispatch.left(id);
        if (!isSuperseded(error)) throw error;
        await ports.released({ id, task: task.id });
        const now = (await ports.store.getTask(task.id))?.task;
        if (now === undefined || !isWanted(now, order.run)) return ports.discard(task, order.run);
        // The person's request was refused. The end of a run that the brake has ended is reported to the engine.
        const ended = await ports.store.runs.get(id);
        if (ended?.started?.ending !== undefined) return ports.watch(ended);
      }
    }
  };
}

async function isThere({ terminal, processes }: StartPorts, started: StartedRun): Promise<boolean> {
  if (started.mode === "session") return (await terminal.list()).some(({ run }) => run === started.name);
  return (await processes.look(processName(started))).kind !== "absent";
}

/**
 * Adopts a run that an earlier attempt has started and may not have recorded. Waits while a person ends the run:
 * adopting it then would overwrite the reason in its record, and its end would look like a crash.
 */
async function adopt(ports: StartPorts, { id }: Run, task: Task): Promise<void> {
  await ports.released({ id, task: task.id });
  const run = await ports.store.runs.get(id);
  if (run === undefined || run.endedAt !== undefined) return;
  const { project, harness } = run;
  ports.dispatch.seated({ run: id, task: task.id, project, harness, isAssumed: true });
  await ports.unlessHeld(run, async (check) => {
    if (run.pid !== 0) return ports.watch(run);
    const found = await identified(ports, { ...run, pid: await pidOf(ports, run) });
    check();
    await noteStart(ports, task, found);
  });
}

async function pidOf({ terminal, processes }: StartPorts, { started }: Run): Promise<number> {
  if (started === undefined) return 0;
  if (started.mode === "session") return (await terminal.list()).find(({ run }) => run === started.name)?.pid ?? 0;
  const state = await processes.look(processName(started));
  return state.kind === "running" ? state.identity.pid : 0;
}

/** The run works: records its identity, and watches it. */
async function noteStart(ports: StartPorts, task: Task, run: Run): Promise<void> {
  const { store, clock, places } = ports;
  await store.runs.put(run);
  await publishAgents({ store, places });
  await store.addEvents(task.id, [startedEvent(run)], clock.now());
  const title = sessionTitle(task);
  if (run.started?.mode === "session" && task.tmuxSession !== title)
    await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { tmuxSession: title } });
  ports.log.info("An agent was started", { task: task.id, run: run.key, harness: run.harness, pid: run.pid });
  ports.watch(run);
}

async function chooseHarness(ports: StartPorts, { spec }: AgentOrder, task: Task): Promise<Harness> {
  const harness = harnessNamed(ports.harnesses, harnessOf(spec, task));
  const lack = lacks(harness, spec, ports.config());
  if (lack !== undefined)
    throw new Fault("harness.lacks", lack, { hint: "Choose another harness: signalbox task update --harness NAME" });
  const found = await harness.detect();
  if (!found.found) {
    const elsewhere = "If it is, the daemon was started with another PATH: signalbox down && signalbox up";
    const another = otherHarness(spec, task);
    throw new Fault("harness.missing", notInstalled(harness), {
      hint: [found.hint, elsewhere, ...another].join("\n"),
    });
  }
  await checkPermissions(ports, harness, spec, task.project);
  return harness;
}

/** The commands that give the task another harness for this run; none where its workflow names the harness. */
function otherHarness(spec: AgentOrder["spec"], { id, harness, reviewHarness }: Task): readonly string[] {
  const isOne = reviewHarness === "" || reviewHarness === harness;
  const flag = spec.harness === "task" ? "--harness" : spec.harness === "review" ? "--review-harness" : "";
  const flags = flag === "" ? "" : isOne ? "--harness NAME --review-harness NAME" : `${flag} NAME`;
  if (flags === "") return [];
  return [`${takeAnother}${id} ${flags}`, `Then: signalbox task continue ${id}`];
}

interface Seated {
  readonly agent: GivenAgent | undefined;
  readonly askedAt: number;
  readonly seatedAt: number;
}

/** Returns false if the run was not started, because its project was paused or its budget is used up. */
async function start(
  ports: StartPorts,
  harness: Harness,
  task: Task,
  order: AgentOrder,
  key: string,
  about: NewRun,
  { agent, ...times }: Seated,
): Promise<boolean> {
  const { store, clock, places } = ports;
  const { spec } = order;
  const { model, tier } = chooseModel(await ports.tiersOf(task.project), harness, agent?.model ?? order.model);
  const id = runRecordId(task.id, order.run);
  const name = runName(task.id, order.run);
  const { runFolder, events } = await makeRunFolder(places, name);
  const workflow = await ports.workflowOf(task);
  const project = await projectOf(store, task.project);
  const earlier = order.resume === "" ? undefined : await store.runs.get(runRecordId(task.id, order.resume));
  const isJudge = ports.checkoutFor !== undefined && workflow.judges.includes(order.role);
  const judge = { task, run: order.run, key, resumes: earlier?.folder ?? "" };
  const folder = await (isJudge ? ports.checkoutFor(judge) : ports.folderOf(task));
  const taskFile = await ports.placeFiles(task, order.role);
  const port = isJudge ? undefined : await ports.portOf(task);
  // A run that ended before its session existed has none to resume; it is started anew.
  const canResume = earlier?.harness === harness.name && harness.can.resume && earlier.started?.hasBegun !== false;
  const session = canResume ? earlier.session : "";
  const named = { role: order.role, run: order.run, name, taskFile, isJudge };
  const secrets = await environmentOf(ports, task, named);
  const missed = await missedMessages(store, task.id, order);
  const told = await runPrompt(ports, { workflow, task, project, order, taskFile, port });
  const prompt = withMissed(told, missed);
  const harnessOrder: HarnessOrder = {
    run: name,
    mode: spec.mode === "session" ? "session" : "turn",
    prompt:
      session === "" && task.wait.step > 0 && spec.mode === "steps"
        ? `${prompt}\n${workSoFar(targetOf(project, task))}`
        : prompt,
    system: "",
    folder,
    runFolder,
    model,
    effort: ports.config().agentsEffort,
    permissions: spec.permissions,
    tools: spec.tools,
    taskFile: taskFile === "" ? "" : join(folder, taskFile),
    testCommand: ports.testCommandOf(project),
    cli: "signalbox",
    session: session === "" ? { kind: "new", id: sessionId(ports.ids) } : { kind: "resume", id: session },
    schema: spec.result === undefined ? undefined : workflow.schemas[spec.result],
    hook: hookCommand(places, events),
    costLimit: spec.limits.cost,
    ...secrets,
  };
  await writeOrder(runFolder, spec, harnessOrder);
  const prepared = await harness.prepare(harnessOrder);
  const confined = { project: task.project, spec, harness, order: harnessOrder, launch: prepared };
  const launch = await ports.confine(confined);
  const started: StartedRun = {
    name,
    mode: spec.mode,
    window: spec.mode === "session" ? order.window : "",
    at: clock.now(),
    entry: task.entry,
    part: 0,
    isResumed: session !== "",
    hasBegun: session !== "",
    hasPrompt: launch.message === "" && harnessOrder.prompt !== "",
    ...(await transcriptOf(harness, launch.session || session, folder)),
    raised: "",
    isConfined: launch.isConfined,
    ...times,
    ...(tier === "" ? {} : { tier }),
    ...(agent === undefined || agent.insteadOf === "" ? {} : { insteadOf: agent.insteadOf }),
  };
  let run: Run = {
    id,
    project: task.project,
    task: task.id,
    at: clock.now(),
    key: order.run,
    role: order.role,
    harness: harness.name,
    model,
    session: launch.session || session,
    folder,
    pid: 0,
    endedAt: undefined,
    word: "",
    ...(agent === undefined ? {} : { agent: agent.name }),
    started,
  };
  if (ports.paused(task.project) !== undefined) return false;
  // Recorded before the start, so that a run started just before a crash is found again, with what is reserved for it.
  const isGranted = await ports.budgets.reserve(task, about, async (reserves) => {
    if (Object.keys(reserves).length > 0) run = { ...run, started: { ...started, reserves } };
    await store.runs.put(run);
  });
  if (!isGranted) return false;
  if (launch.message !== "") await ports.tell(run, launch.message, `${key}${promptKey}`);
  await noteStart(ports, task, await launchRun(ports, run, launch, runFolder));
  await noteMissed(ports, missed, order.run);
  ports.launched(run);
  return true;
}

export async function transcriptOf(harness: Harness, session: string, folder: string) {
  const transcript = session === "" ? "" : await harness.transcriptOf(session, folder);
  const size =
    transcript === ""
      ? 0
      : await stat(transcript).then(
          ({ size }) => size,
          () => 0,
        );
  return { transcript, transcriptFrom: size };
}

function startedEvent({ key, role, harness, model, agent = "", session, started }: Run): TaskEvent {
  const { window = "", isResumed: resumed, isConfined: sandbox = false, tier = "", insteadOf = "" } = started ?? {};
  const time = (at: number | undefined) => (at === undefined ? "" : new Date(at).toISOString());
  const times = { asked: time(started?.askedAt), seated: time(started?.seatedAt) };
  const data = { run: key, role, harness, model, tier, agent, insteadOf, ...times, session, window, resumed, sandbox };
  return { type: "agent.started", by: "engine", data, set: {} };
}

/** The id of a new session. Harnesses require the form of a UUID. */
export function sessionId(ids: Ids): string {
  const hex = ids.secret().slice(0, 32);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join("-");
}

function workSoFar(base: string): string {
  return `You have worked on this before, in a session that is gone. See what there is: git log ${base}..HEAD, git status.`;
}
