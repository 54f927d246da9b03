import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Finding } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { ForgeOf } from "../forge/project-forge.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import { filledParam } from "./filled-param.ts";

export interface PostCommentPorts {
  readonly store: Store;
  readonly forgeOf: ForgeOf;
  workflowOf(task: Task): Promise<Workflow>;
}

/**
 * Says something on the task's pull request, once: its key is the effect's. Where the workflow does not say what, it is
 * what was found.
 */
export function postComment({ store, forgeOf, workflowOf }: PostCommentPorts): Perform {
  return async ({ params }, { task, key }) => {
    const record = await store.pullRequests.get(task.id);
    if (record === undefined) {
      throw new Fault("pr.missing", "The task has no pull request to comment on.", {
        hint: `Open one: signalbox task create-pr ${task.id}`,
      });
    }
    const given = filledParam(await workflowOf(task), task, params.message);
    const text = given || writeFindings(await store.findings.list({ task: task.id }));
    const { forge } = await forgeOf(await projectOf(store, task.project));
    await forge.comment(record.number, text, key);
  };
}

/** All of them in one comment. */
function writeFindings(findings: readonly Finding[]): string {
  const open = findings.filter(({ state }) => state === "open" || state === "approved");
  if (open.length === 0) return "The review has found nothing.";
  return ["The review has found:", "", ...open.map(writeFinding)].join("\n");
}

function writeFinding({ title, detail, file, line, severity }: Finding): string {
  const place = file === "" ? "" : ` (\`${file}${line === undefined ? "" : `:${line}`}\`)`;
  const more = detail.trim() === "" ? "" : `\n\n  ${detail.trim().replaceAll("\n", "\n  ")}\n`;
  return `- **${severity || "note"}** ${title}${place}${more}`;
}
