import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { MergePorts } from "../forge/merge-pull-request.ts";
import type { OpenPorts } from "../forge/open-pull-request.ts";
import type { Performers } from "../perform.ts";
import { createPr } from "./create-pr.ts";
import { deleteRemoteBranch } from "./delete-remote-branch.ts";
import { mergePr } from "./merge-pr.ts";
import { postComment } from "./post-comment.ts";
import { pushBranch } from "./push-branch.ts";

/** What effects on remotes and forges are carried out with. */
export interface ForgeEffectPorts extends OpenPorts, MergePorts {
  workflowOf(task: Task): Promise<Workflow>;
}

/** The effects that need a remote or a forge. */
export function forgeEffects(ports: ForgeEffectPorts): Performers {
  return {
    push_branch: pushBranch(ports),
    create_pr: createPr(ports),
    merge_pr: mergePr(ports),
    post_comment: postComment(ports),
    delete_remote_branch: deleteRemoteBranch(ports),
  };
}
