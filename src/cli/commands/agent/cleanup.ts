import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { given } from "../../given.ts";
import { writeJson } from "../../write-json.ts";

export interface CleanupFlags {
  readonly project?: string;
  readonly "dry-run": boolean;
  readonly json: boolean;
}

export async function cleanup(this: Context, { project, "dry-run": dryRun, json }: CleanupFlags) {
  const answer = await createCall(this)(routes.cleanAgents, { body: { ...given({ project }), dryRun } });
  if (json) return this.print(writeJson(answer));
  const { done } = answer;
  if (done.length === 0) return this.say("There is nothing to clean up.");
  for (const each of done) this.print(`${dryRun ? "would take away" : "took away"} ${each}`);
  if (dryRun) this.say("Nothing has changed. To do it: signalbox agent cleanup");
}
