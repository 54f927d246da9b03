import type { Routes } from "../../api/routes.ts";
import type { Actor } from "../../engine/request.ts";
import { theWayBack } from "../../engine/ways-back.ts";
import { Fault } from "../../fault.ts";
import type { GivenBack } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Handler } from "../asked.ts";
import { targetOf } from "../base-of.ts";
import type { Core, Repositories } from "../core.ts";
import { type Clash, feedbackOn, learningIn, prepareMerge, tellConflict } from "../merging/give-back.ts";
import { syncBranch } from "../merging/sync-branch.ts";
import { viewOf } from "../views.ts";
import { findTask } from "./find-task.ts";
import { mustBeOpen } from "./must-be-open.ts";
import { mustHave } from "./projects.ts";
import { actorFor } from "./standing.ts";

/** Brings a branch of the user's into the task's. What conflicts goes to the task's agent, where a person asked. */
export function syncTask(core: Core): Handler<Routes["syncTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { task } = stored;
    const actor = await actorFor(core, stored, asked, (actor) => ({ kind: "edit", set: {}, actor }));
    mustBeOpen(stored);
    const project = await mustHave(core, task.project);
    const { repositories } = core;
    if (repositories === undefined) throw new Fault("git.unavailable", "This daemon works without git.");
    const { from = targetOf(project, task), giveBack = true } = asked.body;
    const ports = { clock: core.clock, signal: repositories.signal };
    const synced = await syncBranch(ports, await repositories.workspacesOf(project), project, task, from);
    const { commit } = synced;
    if (synced.kind === "synchronised")
      return {
        from,
        commit,
        commits: synced.commits,
        files: [],
        givenBack: null,
        task: await freshView(core, task.id),
      };
    const command = await prepareMerge(repositories, task, from);
    const givenBack = giveBack ? await giveToAgent(core, repositories, stored, actor, synced, command) : undefined;
    if (givenBack === undefined) throw conflict(synced, task.branch, task.workspace, command);
    return { from, commit, commits: 0, files: [...synced.files], givenBack, task: await freshView(core, task.id) };
  };
}

/** To where an agent works, or to the one that is there. An agent that asks itself knows already. */
async function giveToAgent(
  core: Core,
  { clock }: Repositories,
  { task }: StoredTask,
  actor: Actor,
  clash: Clash,
  command: string,
): Promise<GivenBack | undefined> {
  if (actor.role !== "human") return undefined;
  const to = theWayBack(await core.workflows.get(task.workflowHash), task);
  const word = { tell: tellConflict, entry: task.entry };
  const wish = typeof to === "string" ? ({ kind: "move", to } as const) : ({ kind: "remind" } as const);
  const words = feedbackOn(clash, command, clock.now());
  const { decision, stored } = await core.submit(task.id, { ...wish, actor, word }, words);
  if (decision.kind !== "moved" && decision.kind !== "stayed") return undefined;
  return { to: stored.task.status, ...learningIn(decision) };
}

function conflict({ branch, files }: Clash, own: string, folder: string, command: string): Fault {
  return new Fault("sync.conflict", `"${branch}" conflicts with "${own}" in ${files.join(", ")}.`, {
    hint: `Merge it in ${folder}: ${command}`,
  });
}

async function freshView(core: Core, id: string) {
  const stored = await core.store.getTask(id);
  if (stored === undefined) throw new Fault("task.missing", "The task is gone.");
  return viewOf(core, stored);
}
