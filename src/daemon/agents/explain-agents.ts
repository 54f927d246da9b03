import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeDuration } from "../../engine/duration.ts";
import type { explain } from "../../engine/explain.ts";
import { seeRun } from "../../engine/persons-turn.ts";
import { specOf } from "../../engine/run-spec.ts";
import { isRunAwaited, maxReminders } from "../../engine/settled.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { parseObject } from "../../json.ts";
import type { Run } from "../../ports/records.ts";
import { refusedFile } from "../../ports/sandbox.ts";
import type { Store } from "../../ports/store.ts";
import { oneLine, sentence, sentences, shownTime } from "../../text.ts";
import type { Agents } from "./agents.ts";
import { proxyFolder } from "./confine.ts";
import { namedReset } from "./dispatch.ts";
import { nameOfRun } from "./read-turn.ts";
import { isWanted } from "./run-order.ts";
import { lifeOf } from "./run-signs.ts";
import { reminderInterval } from "./sleepers.ts";

interface AgentsExplained {
  readonly blocked: readonly { readonly reason: string; readonly fix: string }[];
  readonly next: readonly { readonly what: string; readonly at: null }[];
}

interface Explained {
  readonly task: Task;
  readonly workflow: Workflow;
  readonly moves: ReturnType<typeof explain>["moves"];
}

/**
 * What holds up a task's agents and passes by itself, and which messages wait for them. `isOnHold`: the task waits for
 * a slot, or for the end of a pause.
 */
export async function explainAgents(
  store: Store,
  agents: Agents | undefined,
  { task, workflow, moves }: Explained,
  isOnHold: boolean,
): Promise<AgentsExplained> {
  if (agents === undefined) return { blocked: [], next: [] };
  const attach = (run: string) => `Look at it: ${seeRun(task, run, run)}`;
  const limits = agents.dispatch.limits();
  const tryAgain = (harness: string) =>
    limits.some((limit) => limit.harness === harness)
      ? `If that no longer applies: signalbox resume --harness ${harness}`
      : "";
  const waiting = agents.dispatch.waiting().flatMap(({ run: id, task: of, harness }) => {
    const run = id.slice(id.indexOf("/") + 1);
    const why = of === task.id && isWanted(task, run) ? agents.dispatch.whyRunWaits(id) : undefined;
    const block = agents.dispatch.blockOf(id);
    // What needs a person about the task's own budget is one of its needs.
    if (why === undefined || (block?.needsPerson && block.owner === task.id)) return [];
    const isThere = agents.watchOf(id) !== undefined;
    return [
      {
        reason: isThere ? `${run} is sent a message once it has a seat. ${why}` : `${run} waits to be started. ${why}`,
        fix: block?.fix ?? tryAgain(harness),
      },
    ];
  });
  const paused = isOnHold || task.phase === "doing" ? agents.pauses.why(task.project) : undefined;
  const watches = agents.watches().filter(({ run }) => run.task === task.id && isWanted(task, run.key));
  const limited = watches.flatMap(({ run, signs: { error, since } }) => {
    // A person is told of every other error.
    if (error?.kind !== "rate-limit") return [];
    const named = namedReset(error.resetAt, since);
    const until = named === undefined ? "" : ` That lasts until ${shownTime(named)}.`;
    const fix = [attach(run.key), tryAgain(run.harness)].filter(Boolean).join("\n");
    return [{ reason: `${run.key} was told: ${sentence(error.message)}${until}`, fix }];
  });
  const idle = watches.filter(
    ({ run, started, signs }) =>
      started.mode === "session" && signs.activity === "idle" && isRunAwaited(workflow, task, run.key),
  );
  const busy = watches.filter(
    ({ run, started, signs }) =>
      started.mode === "session" && signs.activity === "busy" && isRunAwaited(workflow, task, run.key),
  );
  const terminal = watches.some(({ started }) => started.mode === "session") ? agents.terminalTrouble() : undefined;
  const unheard = watches.flatMap(({ run, trouble, started }) => {
    if (trouble === "" || started.raised.includes(trouble)) return [];
    return [{ reason: `The events of ${run.key} cannot be read: ${trouble}`, fix: attach(run.key) }];
  });
  const refused = watches.flatMap(({ run, started }) => {
    const hosts = refusedHosts(join(agents.ports.places.runs, started.name, proxyFolder, refusedFile));
    if (hosts.length === 0) return [];
    const fix =
      "Agents that are started from then on reach a host of the list: signalbox config set agents.network_allow LIST";
    return [{ reason: `The proxy of ${run.key} has refused: ${hosts.join(", ")}.`, fix }];
  });
  const open = (await store.messages.list({ task: task.id })).filter(
    ({ to, deliveredAt }) => deliveredAt === undefined && isWanted(task, to),
  );
  const untold = open.filter(({ problem = "" }) => problem === "");
  return {
    blocked: [
      ...(paused === undefined ? [] : [{ reason: paused, fix: "" }]),
      ...waiting,
      ...limited,
      ...unheard,
      ...refused,
      ...(terminal === undefined ? [] : [terminal]),
      ...idle.map(({ run, since }) => ({
        reason: sentences([`${run.key} has been idle since ${shownTime(since)}.`, ...missingFor(moves, run.role)]),
        fix: `Tell it what to do: signalbox task send ${task.id} "Your message" --role ${run.key}\n${attach(run.key)}`,
      })),
    ],
    next: [
      ...untold.map(({ to, from }) => ({
        what: `Deliver a message from ${from === "human" ? "a person" : from} to ${to} as soon as it listens`,
        at: null,
      })),
      ...idle.map(({ run }) => ({ what: whatFollows(run.key, task.wait.reminded), at: null })),
      ...busy.map(({ run, since }) => ({ what: howLong(workflow, task, run.key, since), at: null })),
    ],
  };
}

/** The hosts that a run asked for and did not get. Its proxy writes the file, which the agent cannot change. */
function refusedHosts(file: string): readonly string[] {
  try {
    const counts = parseObject(readFileSync(file, "utf8")) ?? {};
    return Object.entries(counts).map(
      ([host, count]) => `${oneLine(host, 100)}${count === 1 ? "" : ` (${count} times)`}`,
    );
  } catch {
    return [];
  }
}

/** What the moves that a role may ask for still need. */
function missingFor(moves: Explained["moves"], role: string): readonly string[] {
  const own = moves.filter(({ by, open }) => !open && by.includes(role));
  return [...new Set(own.flatMap(({ missing }) => missing))];
}

/** Since when a session is busy, and how long it may last: without a limit it may be busy for ever. */
function howLong(workflow: Workflow, { status }: Task, run: string, since: number): string {
  const state = workflow.states[status];
  const { role, limits } = state === undefined ? { role: "", limits: {} } : specOf(workflow, state, nameOfRun(run));
  const busy = `Wait for ${run}, which has been busy since ${shownTime(since)}`;
  if (limits.time !== undefined) return `${busy}, and is ended once it has run for ${writeDuration(limits.time)}`;
  return `${busy} and has no time limit; to set one in the workflow: ${role}: { limits: { time: 2h } } below roles`;
}

/** What happens to an agent that stays idle. */
function whatFollows(run: string, reminded: number): string {
  const minutes = `${reminderInterval / 60_000} minutes`;
  if (reminded >= maxReminders) return `Call you if ${run} stays idle for ${minutes} after its last reminder`;
  const so = reminded === 0 ? "" : `, reminded ${reminded} of ${maxReminders} times so far`;
  return `Remind ${run} every ${minutes} while it stays idle${so}; then call you`;
}

/** The runs of a task that are wanted and have not ended. */
export function aliveOf(task: Task, runs: readonly Run[]): readonly Run[] {
  return runs.filter(
    ({ endedAt, key, started }) => started !== undefined && endedAt === undefined && isWanted(task, key),
  );
}

/** Those of them that have a terminal. */
export function inTerminals(agents: Agents | undefined, task: Task, alive: readonly Run[]): readonly string[] {
  return alive
    .filter(({ started, key }) => started?.mode === "session" && lifeOf(agents, task.id, key) === "alive")
    .map(({ key }) => key);
}

/** Whether an agent of the task has a terminal, in which a person can talk to it. */
export async function hasTerminal(
  { store, agents }: { readonly store: Store; readonly agents: Agents | undefined },
  task: Task,
): Promise<boolean> {
  return inTerminals(agents, task, aliveOf(task, await store.runs.list({ task: task.id }))).length > 0;
}
