import { realpath } from "node:fs/promises";
import type { RunView } from "../../api/agents.ts";
import { Refusal } from "../../api/client.ts";
import type { Routes } from "../../api/routes.ts";
import { reportOf } from "../../engine/handed.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Run } from "../../ports/records.ts";
import type { Agents } from "../agents/agents.ts";
import { nameOf as agentName } from "../agents/roster.ts";
import { isWanted } from "../agents/run-order.ts";
import { reportEnd, statusOf } from "../agents/run-record.ts";
import { sayingOf } from "../agents/run-signs.ts";
import { findTask } from "../authorise.ts";
import { publishAgents } from "../callers.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { changeView, isoTime, viewOf } from "../views.ts";
import { wholeNumber } from "../whole-number.ts";
import { agentsOf, runOf } from "./tasks.ts";

/** Agents give many signs in quick succession; clients redraw a few times per second. */
const tellPause = 150;

/** Calls `tell` with every changed view of a run, a short pause after the change. Returns a function that stops it. */
export function followRuns(
  core: Core,
  agents: Agents,
  matches: (run: Run) => boolean,
  tell: (run: RunView) => void,
): () => void {
  const changed = new Set<string>();
  const told = new Map<string, string>();
  let isWaiting = false;
  let isOver = false;
  let cancel = () => {};

  const tellAll = async () => {
    isWaiting = false;
    const runs = [...changed];
    changed.clear();
    for (const id of runs) {
      const watch = agents.watchOf(id);
      // The end of a run is an event, so it is not reported here.
      if (watch === undefined || !matches(watch.run)) continue;
      const view = await runView(core, agents, watch.run);
      // The time of the last sign of life changes constantly, and clients do not show it.
      const now = JSON.stringify({ ...view, signAt: "", duration: 0 });
      if (isOver || told.get(id) === now) continue;
      told.set(id, now);
      tell(view);
    }
  };
  const stop = agents.follow((run) => {
    changed.add(run);
    if (isWaiting || isOver) return;
    isWaiting = true;
    cancel = core.clock.after(tellPause, () => {
      tellAll().catch((error) => core.log.warn("The state of agents could not be sent", { error }));
    });
  });
  return () => {
    isOver = true;
    cancel();
    stop();
  };
}

const maxRuns = 1_000;

export function listRuns(core: Core): Handler<Routes["listRuns"]> {
  return async (asked) => {
    const agents = agentsOf(core);
    const { project, task, all, before } = asked.query;
    const limit = wholeNumber("limit", asked.query.limit, 1, maxRuns) ?? maxRuns;
    const about = task === undefined ? undefined : await findTask(core, { ...asked, params: { task } });
    const filter = about === undefined ? (project === undefined ? {} : { project }) : { task: about.task.id };
    const found = (await core.store.runs.list(filter)).filter(({ endedAt }) => all === "true" || endedAt === undefined);
    const waiting = (await waitingRuns(core, agents)).filter(
      ({ task: id, project: of, run }) =>
        (about === undefined || id === about.task.id) &&
        (project === undefined || of === project) &&
        !found.some((each) => each.id === run.id),
    );
    const listed = runsBefore([...found, ...waiting.map(({ run }) => run)], before);
    const shown = listed.slice(-limit);
    const [first] = shown;
    const next = first === undefined || shown.length === listed.length ? null : `${first.at}:${first.id}`;
    return { runs: await Promise.all(shown.map((run) => runView(core, agents, run))), next };
  };
}

/** The runs before the one that a page began with. That may have been deleted meanwhile, so its time is known too. */
function runsBefore(runs: readonly Run[], before: string | undefined): readonly Run[] {
  if (before === undefined || before === "") return runs;
  const [, at, id] = /^(\d+):(.+)$/.exec(before) ?? [];
  if (at === undefined)
    throw new Fault("request.invalid", `"before" must be the "next" of another page, but is "${before}".`, {
      hint: "Leave it out for the newest runs.",
    });
  const place = runs.findIndex((run) => run.id === id);
  return place < 0 ? runs.filter((run) => run.at < Number(at)) : runs.slice(0, place);
}

/** Runs that wait for a seat have no record yet; they are made up from their tasks. */
async function waitingRuns({ store }: Core, { dispatch }: Agents) {
  const found = await Promise.all(
    dispatch.waiting().map(async ({ run: id, task, project, harness }) => {
      const stored = await store.getTask(task);
      const key = id.slice(id.indexOf("/") + 1);
      const wanted = Object.entries(stored?.task.runs ?? {}).find(([, run]) => run.key === key);
      if (stored === undefined || wanted === undefined) return [];
      const run: Run = {
        ...{ id, project, task, key, role: wanted[0], harness, model: stored.task.model, at: stored.updatedAt },
        ...{ pid: 0, session: "", folder: stored.task.workspace, endedAt: undefined, word: "" },
      };
      return [{ task, project, run }];
    }),
  );
  return found.flat();
}

/** Ends a run. The workflow decides what follows, as when an agent ends by itself. */
export function killRun(core: Core): Handler<Routes["killRun"]> {
  return async (asked) => {
    const agents = agentsOf(core);
    const stored = await findTask(core, asked);
    const run = await runOf(core, stored, { run: asked.params.run ?? "" });
    if (run.endedAt !== undefined)
      throw new Fault("run.over", `${run.key} has already ended.`, {
        hint: "See which agents are at work: signalbox agent ps",
      });
    const ended = await agents.end(run, { word: "exit", reason: "A person ended it." });
    if (ended.kind === "told") return changeView(core, ended.answer);
    if (ended.kind === "alive")
      throw new Fault("run.undying", `${run.key} could not be ended. ${ended.problem}`, {
        retry: "later",
        hint: `Try again: signalbox agent kill ${run.id}`,
      });
    // The program has ended, as the person wanted. The task's next step can wait until its facts can be gathered.
    const task = await viewOf(core, stored);
    const why = `The task continues later. ${ended.problem}`;
    return { kind: "ignored", from: stored.task.status, task, why, entry: stored.task.entry, effects: [] };
  };
}

async function runView(core: Core, agents: Agents, run: Run): Promise<RunView> {
  const stored = await core.store.getTask(run.task);
  const watch = agents.watchOf(run.id);
  const usage = agents.book.of(run.id);
  const waitsForSeat = run.endedAt === undefined ? agents.dispatch.whyRunWaits(run.id) : undefined;
  const isAsleep = run.endedAt === undefined && run.started?.asleepSince !== undefined;
  const waiting = (run.pid === 0 && run.endedAt === undefined && !isAsleep) || waitsForSeat !== undefined;
  const messages = (await core.store.messages.list({ task: run.task })).filter(
    ({ to, deliveredAt }) => to === run.key && deliveredAt === undefined,
  );
  const slot = run.agent === undefined ? (await core.store.agents.list({ task: run.task }))[0]?.id : undefined;
  const now = core.clock.now();
  const startedAt = run.started?.at ?? run.at;
  const since = watch?.since ?? run.endedAt ?? run.started?.asleepSince ?? run.at;
  return {
    id: run.id,
    task: run.task,
    project: run.project,
    number: stored?.task.number ?? 0,
    summary: stored?.task.summary ?? "",
    key: run.key,
    role: run.role,
    agent: run.agent ?? (slot === undefined ? "" : agentName(slot)),
    harness: run.harness,
    model: usage?.model || run.model,
    mode: run.started?.mode ?? "session",
    session: run.session,
    window: run.started?.window ?? "",
    pid: run.pid,
    folder: run.folder,
    sandbox: run.started?.isConfined ?? false,
    activity:
      run.endedAt !== undefined || watch?.isOver === true
        ? "ended"
        : waiting
          ? "waiting"
          : isAsleep
            ? "idle"
            : (watch?.signs.activity ?? "unknown"),
    since: isoTime(since),
    signAt: isoTime(watch?.signs.signAt ?? since),
    what:
      run.endedAt !== undefined
        ? run.word
        : (waitsForSeat ?? (isAsleep ? asleepText : watch === undefined ? "" : sayingOf(watch.signs))),
    raised:
      run.endedAt === undefined && (stored === undefined || isWanted(stored.task, run.key))
        ? (run.started?.raised ?? "")
        : "",
    messagesWaiting: messages.length,
    watchers: watch?.pane?.watchers ?? 0,
    startedAt: isoTime(startedAt),
    endedAt: run.endedAt === undefined ? null : isoTime(run.endedAt),
    word: run.word,
    status: statusOf(run),
    report: run.report?.summary ?? reportText(stored?.task, run.key),
    error: run.error ?? "",
    duration: run.pid === 0 && run.endedAt === undefined ? 0 : Math.max(0, (run.endedAt ?? now) - startedAt),
    usage: {
      inputTokens: usage?.inputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      cachedTokens: usage?.cachedTokens ?? 0,
      cost: usage?.cost ?? null,
    },
  };
}

/** What a live run has said when its work was complete. */
function reportText(task: Task | undefined, run: string): string {
  return (task && reportOf(task, run)?.summary) ?? "";
}

const asleepText = "Its program was ended to make room (agents.live); it resumes its session when it gets a message.";

const defaultLifetime = 24 * 3600;

/** Issues a credential for a live run of the task. The workflow decides which roles have runs, not the caller. */
export function registerRun(core: Core): Handler<Routes["registerRun"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    const { role, folder = "", pid = 0, lifetime = defaultLifetime } = asked.body;
    const run = task.runs[role];
    if (run === undefined) {
      const live = Object.keys(task.runs);
      throw new Refusal([
        {
          code: "run-over",
          text: `The task has no live run of ${role} in "${task.status}".`,
          fix: live.length > 0 ? `It has ${live.join(", ")}.` : "No agent is at work in this state.",
        },
      ]);
    }
    const at = core.clock.now();
    const { id, project } = task;
    const place = folder === "" ? "" : await realFolder(folder);
    const known = await core.store.runs.get(`${id}/${run.key}`);
    await core.store.runs.put({
      id: `${id}/${run.key}`,
      project,
      task: id,
      at: known?.at ?? at,
      key: run.key,
      role,
      harness: task.harness,
      model: task.model,
      session: known?.session ?? "",
      folder: place,
      pid,
      endedAt: undefined,
      word: "",
    });
    if (place !== "")
      await core.store.workspaces.put({ id: place, project, task: id, at, path: place, kind: "folder" });
    await publishAgents(core);
    const expiresAt = at + lifetime * 1000;
    const credential = { project, task: id, at, role, run: run.key, expiresAt };
    const token = await core.callers.issue(credential, core.ids.secret());
    core.log.info("A run was registered", { task: id, run: run.key });
    return { run: run.key, role, token, expiresAt: isoTime(expiresAt) };
  };
}

export function endRun(core: Core): Handler<Routes["endRun"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    const { run = "" } = asked.params;
    const { word, reason } = asked.body;
    const end = reason === undefined ? { word } : { word, reason };
    return changeView(core, await reportEnd(core, task.id, run, end));
  };
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (error) {
    throw new Fault("run.invalid", `There is no folder ${folder}.`, { cause: error });
  }
}
