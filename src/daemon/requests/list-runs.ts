import type { RunView } from "../../api/agent-wires.ts";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { Run } from "../../ports/records.ts";
import type { Agents } from "../agents/agents.ts";
import { isWanted } from "../agents/start-run.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { isoTime, viewOf } from "../views.ts";
import { agentsOf, runOf } from "./agents-of.ts";
import { findTask } from "./find-task.ts";
import { changeView } from "./move-task.ts";

const most = 1_000;

export function listRuns(core: Core): Handler<Routes["listRuns"]> {
  return async (asked) => {
    const agents = agentsOf(core);
    const { project, task, all } = asked.query;
    const about = task === undefined ? undefined : await findTask(core, { ...asked, params: { task } });
    const filter = about === undefined ? (project === undefined ? {} : { project }) : { task: about.task.id };
    const found = (await core.store.runs.list(filter)).filter(({ endedAt }) => all === "true" || endedAt === undefined);
    const waiting = (await waitingRuns(core, agents)).filter(
      ({ task: id, project: of, run }) =>
        (about === undefined || id === about.task.id) &&
        (project === undefined || of === project) &&
        !found.some((each) => each.id === run.id),
    );
    const shown = [...found, ...waiting.map(({ run }) => run)].slice(-most);
    return { runs: await Promise.all(shown.map((run) => runView(core, agents, run))) };
  };
}

/** Of one that may not start yet nothing is recorded: it is what its task wants. */
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

/** Its workflow decides what follows from it, as it does when an agent ends by itself. */
export function killRun(core: Core): Handler<Routes["killRun"]> {
  return async (asked) => {
    const agents = agentsOf(core);
    const stored = await findTask(core, asked);
    const run = await runOf(core, stored, { run: asked.params.run ?? "" });
    if (run.endedAt !== undefined)
      throw new Fault("run.over", `${run.key} has ended already.`, { hint: "See who is at work: signalbox agent ps" });
    const ended = await agents.end(run, { word: "exit", reason: "A person ended it." });
    if (ended.kind === "told") return changeView(core, ended.answer);
    if (ended.kind === "alive")
      throw new Fault("run.undying", `${run.key} could not be ended. ${ended.problem}`, {
        retry: "later",
        hint: `Try it again: signalbox agent kill ${run.id}`,
      });
    // Its program is what the person wanted gone. What follows from that can wait until the task can be looked at.
    const task = await viewOf(core, stored);
    return { kind: "ignored", from: stored.task.status, task, why: `The task goes on later. ${ended.problem}` };
  };
}

export async function runView(core: Core, agents: Agents, run: Run): Promise<RunView> {
  const stored = await core.store.getTask(run.task);
  const watch = agents.watchOf(run.id);
  const usage = agents.book.of(run.id);
  const waitsForSeat = run.endedAt === undefined ? agents.dispatch.whyRunWaits(run.id) : undefined;
  const isAsleep = run.endedAt === undefined && run.started?.asleepSince !== undefined;
  const waiting = (run.pid === 0 && run.endedAt === undefined && !isAsleep) || waitsForSeat !== undefined;
  const messages = (await core.store.messages.list({ task: run.task })).filter(
    ({ to, deliveredAt }) => to === run.key && deliveredAt === undefined,
  );
  const slot = (await core.store.agents.list({ task: run.task }))[0];
  const since = watch?.signs.since ?? run.endedAt ?? run.started?.asleepSince ?? run.at;
  return {
    id: run.id,
    task: run.task,
    project: run.project,
    number: stored?.task.number ?? 0,
    summary: stored?.task.summary ?? "",
    key: run.key,
    role: run.role,
    agent: slot?.id.slice(slot.id.indexOf("/") + 1) ?? "",
    harness: run.harness,
    model: usage?.model || run.model,
    mode: run.started?.mode ?? "session",
    session: run.session,
    window: run.started?.window ?? "",
    pid: run.pid,
    folder: run.folder,
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
    what: run.endedAt !== undefined ? run.word : (waitsForSeat ?? (isAsleep ? asleepText : whatOf(watch))),
    raised:
      run.endedAt === undefined && (stored === undefined || isWanted(stored.task, run.key))
        ? (run.started?.raised ?? "")
        : "",
    messagesWaiting: messages.length,
    watchers: watch?.pane?.watchers ?? 0,
    startedAt: isoTime(run.started?.at ?? run.at),
    endedAt: run.endedAt === undefined ? null : isoTime(run.endedAt),
    word: run.word,
    usage: {
      inputTokens: usage?.inputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      cachedTokens: usage?.cachedTokens ?? 0,
      cost: usage?.cost ?? null,
    },
  };
}

const asleepText =
  "Its program was ended to make room (agents.live); it goes on in its session when it is told something.";

function whatOf(watch: ReturnType<Agents["watchOf"]>): string {
  const signs = watch?.signs;
  if (signs === undefined) return "";
  if (signs.error !== undefined) return signs.error.message;
  return signs.activity === "idle" ? (signs.said.split("\n")[0] ?? "") : signs.what;
}
