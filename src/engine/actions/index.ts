import { acquireWorkspace } from "./acquire-workspace.ts";
import { closeTicket } from "./close-ticket.ts";
import { createBranch } from "./create-branch.ts";
import { createPr } from "./create-pr.ts";
import type { ActionDeclaration } from "./declaration.ts";
import { deleteBranch } from "./delete-branch.ts";
import { deleteRemoteBranch } from "./delete-remote-branch.ts";
import { harvestUncommitted } from "./harvest-uncommitted.ts";
import { increment } from "./increment.ts";
import { killAgent } from "./kill-agent.ts";
import { killSession } from "./kill-session.ts";
import { merge } from "./merge.ts";
import { mergePr } from "./merge-pr.ts";
import { nameBranch } from "./name-branch.ts";
import { notify } from "./notify.ts";
import { notifyAgent } from "./notify-agent.ts";
import { postComment } from "./post-comment.ts";
import { pushBranch } from "./push-branch.ts";
import { releaseWorkspace } from "./release-workspace.ts";
import { runCommand } from "./run-command.ts";
import { runTests } from "./run-tests.ts";
import { setField } from "./set-field.ts";
import { spawnAgent } from "./spawn-agent.ts";
import { spawnNext } from "./spawn-next.ts";
import { syncIdleAgents } from "./sync-idle-agents.ts";
import { syncRepo } from "./sync-repo.ts";

/** The action vocabulary. Adding an action is adding its file and its name here. */
export const actions: Readonly<Record<string, ActionDeclaration>> = Object.fromEntries(
  [
    acquireWorkspace,
    closeTicket,
    createBranch,
    createPr,
    deleteBranch,
    deleteRemoteBranch,
    harvestUncommitted,
    increment,
    killAgent,
    killSession,
    mergePr,
    merge,
    nameBranch,
    notifyAgent,
    notify,
    postComment,
    pushBranch,
    releaseWorkspace,
    runCommand,
    runTests,
    setField,
    spawnAgent,
    spawnNext,
    syncIdleAgents,
    syncRepo,
  ].map((action) => [action.name, action]),
);

/** The seeds' own words for actions of ours. */
export const aliases: Readonly<
  Record<string, { readonly action: string; readonly params: Readonly<Record<string, string>> }>
> = {
  spawn_reviewer: { action: "spawn_agent", params: { role: "reviewer", harness: "review", permissions: "reduced" } },
  kill_reviewer: { action: "kill_agent", params: { role: "reviewer" } },
  notify_worker: { action: "notify_agent", params: { role: "worker" } },
  increment_review_round: { action: "increment", params: { field: "review_round" } },
};
