import { routes } from "../../../api/routes.ts";
import { confirm } from "../../confirm.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { given } from "../../given.ts";
import { writeJson } from "../../write-json.ts";

export interface CleanupFlags {
  readonly project?: string;
  readonly yes: boolean;
  readonly "dry-run": boolean;
  readonly json: boolean;
}

export async function cleanup(this: Context, { project, yes, "dry-run": dryRun, json }: CleanupFlags) {
  const call = createCall(this);
  const about = given({ project });
  const wanted = await call(routes.cleanAgents, { body: { ...about, dryRun: true } });
  if (json && dryRun) return this.print(writeJson(wanted));
  if (wanted.done.length === 0) return json ? this.print(writeJson(wanted)) : this.say("There is nothing to clean up.");
  if (dryRun) {
    for (const each of wanted.done) this.print(`would take away ${each}`);
    return this.say("Nothing has changed. To do it: signalbox agent cleanup");
  }
  if (!yes) {
    for (const each of wanted.done) this.say(`  ${each}`);
    const where = project === undefined ? "" : ` of ${project}`;
    const logs = wanted.done.some((each) => each.startsWith("the folder of "))
      ? " The logs in these folders go too."
      : "";
    if (!(await confirm(this, `Take away ${count(wanted.done.length, "thing")}${where}?${logs}`, false))) return;
  }
  const answer = await call(routes.cleanAgents, { body: about });
  if (json) return this.print(writeJson(answer));
  for (const each of answer.done) this.print(`took away ${each}`);
}
