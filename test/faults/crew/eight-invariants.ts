import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { routes } from "../../../src/api/routes.ts";
import type { InterruptedCrew } from "./interrupted-crew.ts";

/** One agent, as `crew ps --json` shows it. */
export interface Slot {
  readonly name: string;
  readonly status: "idle" | "ready" | "working" | "done" | "stuck";
  readonly session: string;
  readonly worktree: string | null;
  readonly branch: string;
  readonly task: string | null;
  readonly step_count: number;
  readonly last_step_at: string | null;
}

/**
 * Checks the eight invariants of a crew while it works. A violation counts only if nothing changed during the check.
 */
export async function invariantProblems(crew: InterruptedCrew): Promise<readonly string[]> {
  // state_file_valid: the report matches its schema, whatever has just been killed.
  const before = await crew.ps();
  const looked = before.map((slot) => ({ slot, problems: slotProblems(crew, slot) }));
  const closed = closedProblems(crew);
  const after = new Map((await crew.ps()).map((slot) => [slot.name, slot]));
  const tasks = before.flatMap(({ task }) => task ?? []);
  return [
    ...looked.flatMap(({ slot, problems }) => (isDeepStrictEqual(slot, after.get(slot.name)) ? problems : [])),
    ...(new Set(tasks).size === tasks.length ? [] : [`no_duplicate_task_assignments: ${tasks.join(", ")}`]),
    ...closed,
    ...(await leftAlone(crew)).map((ticket) => `no agent has the ticket ${ticket}, which has a task`),
  ];
}

/** Assigned tickets whose agent's record lacks them. After a start, recovery may take a moment. */
async function leftAlone({ ask, ps }: InterruptedCrew): Promise<readonly string[]> {
  for (const end = Date.now() + 15_000; ; await sleep(50)) {
    const { tasks } = await ask(routes.listTasks, { query: { open: "true" } });
    const slots = await ps();
    const alone = tasks.flatMap(({ ticket }) => (slots.some(({ task }) => task === ticket) ? [] : [ticket]));
    if (alone.length === 0 || Date.now() > end) return alone;
  }
}

function slotProblems({ git }: InterruptedCrew, slot: Slot): readonly string[] {
  const { status, worktree, branch, session, step_count: steps, last_step_at: stepped } = slot;
  const hasBegun = status === "working" && (steps > 0 || stepped !== null);
  const broken: readonly (readonly [string, boolean])[] = [
    ["idle_agent_has_no_worktree", status === "idle" && worktree !== null],
    ["working_agent_has_worktree", (status === "working" || status === "done") && worktree === null],
    ["session_id_valid", hasBegun && session === ""],
    ["worktree_exists_if_assigned", worktree !== null && !isFolder(worktree)],
    ["branch_exists_if_working", status === "working" && git("branch", "--list", branch) === ""],
  ];
  return broken.flatMap(([name, isBroken]) => (isBroken ? [`${name}: ${JSON.stringify(slot)}`] : []));
}

/** A closed ticket names a commit, and main contains it. */
function closedProblems({ git, tickets, isClosed, readTicket }: InterruptedCrew): readonly string[] {
  return tickets().flatMap((id) => {
    if (!isClosed(id)) return [];
    const [, commit = ""] = /merged into main with (\w{40})/.exec(readTicket(id)) ?? [];
    const isIn = commit !== "" && git("branch", "--contains", commit, "--list", "main") !== "";
    return isIn ? [] : [`ticket_closed_only_if_work_in_main: ${id}`];
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
