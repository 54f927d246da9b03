import type { Routes } from "../../api/routes.ts";
import { mergeHere, theWayBack } from "../../engine/persons-turn.ts";
import type { Actor } from "../../engine/request.ts";
import { Fault } from "../../fault.ts";
import type { GivenBack } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import { actorFor, findTask, mustBeOpen, mustBeUnfinished } from "../authorise.ts";
import type { Core, Repositories } from "../core.ts";
import { openPullRequest as openOn } from "../forge/pull-request.ts";
import type { Handler } from "../handlers.ts";
import { placeAt, placeNameOf } from "../landing-place.ts";
import { type Clash, feedbackOn, learningIn, prepareMerge, tellConflict } from "../merging/conflicts.ts";
import { syncBranch, userSource } from "../merging/other-merges.ts";
import { mustHave, remoteName } from "../project.ts";
import { pullRequestView, viewOf } from "../views.ts";

/** Pushes the task's branch and opens its pull request. The task's status does not change. */
export function openPullRequest(core: Core): Handler<Routes["openPullRequest"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    // Authorised as an edit: the task's status does not change.
    await actorFor(core, stored, asked, (actor) => ({ kind: "edit", set: {}, actor }));
    await mustBeUnfinished(core, stored);
    const { task } = stored;
    if (core.forge === undefined) throw new Fault("forge.unavailable", "This daemon does not push.");
    const { title, body, draft } = asked.body;
    const project = await mustHave(core, task.project);
    const { remote } = await core.forge.forgeOf(project);
    if (remote === undefined) {
      const here = mergeHere(await core.workflows.get(task.workflowHash), task);
      const add = `dd a remote first: git -C ${project.path} remote add ${remoteName} URL, then: signalbox project trust ${project.name}`;
      throw new Fault("forge.none", `${project.path} has no remote, so no pull request can be opened.`, {
        hint: here === undefined ? `A${add}` : `${here}\nOr a${add}`,
      });
    }
    return pullRequestView(await openOn(core.forge, project, task, { title, body, isDraft: draft }));
  };
}

/** Merges one of the user's branches into the task's. If a person asked, the task's agent is given the conflicts. */
export function syncTask(core: Core): Handler<Routes["syncTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { task } = stored;
    const actor = await actorFor(core, stored, asked, (actor) => ({ kind: "edit", set: {}, actor }));
    mustBeOpen(stored);
    const project = await mustHave(core, task.project);
    const { repositories } = core;
    if (repositories === undefined) throw new Fault("git.unavailable", "This daemon works without git.");
    const { giveBack = true } = asked.body;
    const into =
      asked.body.from === undefined ? await placeNameOf(core.store, project, task) : { target: asked.body.from };
    const from = into.target;
    const ports = { clock: core.clock, signal: repositories.signal };
    const own = await repositories.workspacesOf(project);
    const parents = () => placeAt({ store: core.store, where: "here" }, own, project, into).find();
    const source =
      into.parent === undefined
        ? userSource(own, project, from)
        : { branch: from, tip: async () => (await parents()).base };
    const synced = await syncBranch(ports, own, project, task, source);
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
    const command = await prepareMerge(repositories, task, into);
    const givenBack = giveBack ? await giveToAgent(core, repositories, stored, actor, synced, command) : undefined;
    if (givenBack === undefined) throw conflict(synced, task.branch, task.workspace, command);
    return { from, commit, commits: 0, files: [...synced.files], givenBack, task: await freshView(core, task.id) };
  };
}

/** Moves the task back to a state with an agent, or reminds the present agent. An agent that asked itself is not told. */
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
