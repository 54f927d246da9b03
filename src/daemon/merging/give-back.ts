import type { Decision } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import { theWayBack } from "../../engine/ways-back.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Clock } from "../../ports/clock.ts";
import type { GivenBack, Merge } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { remoteName } from "../remote-of.ts";
import type { Submit } from "../submit.ts";
import type { Addition } from "../write-document.ts";
import { findTips } from "./find-tips.ts";
import type { LandEntriesPorts } from "./land-entries.ts";

export interface GiveBackPorts extends LandEntriesPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly submit: Submit;
  workflowOf(task: Task): Promise<Workflow>;
}

/** What an agent has to resolve. */
export interface Clash {
  /** The branch that its own conflicts with. */
  readonly branch: string;
  readonly files: readonly string[];
  /** What git says about it; may be empty. */
  readonly text: string;
}

/** Said to the agent; what it is about stands in the section. */
export const tellConflict =
  "Your branch conflicts with the one that it goes into: read ## Feedback in {task_file}, the newest comes last. Merge that branch into yours, resolve the conflicts, then hand the work over again.";

/**
 * A merge has ended in a conflict. The agent is enabled to resolve it and, where a person asked and has one way to send the task
 * back, gets it with everything it has to know. Undefined where the task stays where it is.
 */
export async function giveBack(ports: GiveBackPorts, merge: Merge): Promise<GivenBack | undefined> {
  const stored = await ports.store.getTask(merge.task);
  if (stored === undefined) return undefined;
  const { task } = stored;
  const clash: Clash = { branch: merge.target, files: merge.files, text: merge.reason.split("\n").slice(1).join("\n") };
  const command = await prepareMerge(ports, task, clash.branch);
  if (merge.by !== "human" || merge.givesBack !== true) return undefined;
  const to = theWayBack(await ports.workflowOf(task), task);
  if (typeof to !== "string") return undefined;
  const word = { tell: tellConflict, entry: task.entry };
  const request = { kind: "move", to, actor: { role: "human" }, word } as const;
  const { decision } = await ports.submit(task.id, request, feedbackOn(clash, command, ports.clock.now()));
  return decision.kind === "moved" ? { to, ...learningIn(decision) } : undefined;
}

/** Sees to it that the branch can be merged in the task's workspace, and gives the command for it. */
export async function prepareMerge(ports: LandEntriesPorts, task: Task, branch: string): Promise<string> {
  const project = await ports.store.getProject(task.project);
  if (project === undefined || task.workspace === "") return `git merge ${branch}`;
  const own = await ports.workspacesOf(project);
  const { base, user } = await findTips(own, project, branch, ports.where());
  await own.kind.learnBranch(task.workspace, branch, base);
  const workspaces = await ports.store.workspaces.list({ task: task.id });
  const isClone = workspaces.some(({ path, kind }) => path === task.workspace && kind === "clone");
  // The remote has more than the user's repository, whose branches a worktree sees.
  return isClone || base === user ? `git merge ${branch}` : `git pull --no-rebase ${remoteName} ${branch}`;
}

/** The engine's own words, not a person's: whoever wrote the files that conflict cannot pass for one at a gate. */
export function feedbackOn({ branch, files, text }: Clash, command: string, at: number): Addition {
  const shown = files.slice(0, mostFiles).map((file) => `- ${file}`);
  const more = files.length > mostFiles ? [`- … and ${files.length - mostFiles} more`] : [];
  const said = text.trim() === "" ? [] : [`What git says:\n\n${text.trim().replace(/^/gm, "    ")}`];
  return {
    section: "Feedback",
    by: "engine",
    at,
    text: [
      `This branch conflicts with "${branch}" in:`,
      [...shown, ...more].join("\n"),
      `In the workspace, run: ${command}`,
      "Resolve the conflicts so that both intentions survive, run the tests, and commit. Then hand the work over again.",
      ...said,
    ].join("\n\n"),
  };
}

const mostFiles = 50;

/** Which run learns of what came with a request. */
export function learningIn(decision: Decision): Pick<GivenBack, "run" | "how"> {
  const effects = decision.kind === "moved" || decision.kind === "stayed" ? decision.effects : [];
  const told = effects.findLast(({ agent }) => agent !== undefined);
  if (told?.agent === undefined) return { run: "", how: "" };
  return { run: told.agent.run, how: told.action === "spawn_agent" ? "start" : "message" };
}
