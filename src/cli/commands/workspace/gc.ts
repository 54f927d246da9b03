import { routes } from "../../../api/routes.ts";
import { confirm } from "../../confirm.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { given } from "../../given.ts";
import { writeTable } from "../../table.ts";
import { writeJson } from "../../write-json.ts";
import { writeSize } from "../../write-size.ts";

export interface GcFlags {
  readonly project?: string;
  readonly yes: boolean;
  readonly "dry-run": boolean;
  readonly json: boolean;
}

export async function gc(this: Context, { project, yes, "dry-run": dryRun, json }: GcFlags) {
  const call = createCall(this);
  const about = given({ project });
  const planned = await call(routes.cleanWorkspaces, { body: { ...about, dryRun: true } });
  if (dryRun && json) return this.print(writeJson(planned));
  const acts = planned.done.filter(({ what }) => what !== "keep");
  if (!json && planned.done.length === 0)
    return this.say("There are no workspaces, no branches of ended tasks, and nothing is in the trash.");
  if (!json && (dryRun || (acts.length > 0 && !yes))) {
    const table = writeDone(this, planned.done, wouldDo);
    if (dryRun) this.print(table);
    else this.say(table);
  }
  if (dryRun && acts.length > 0) return this.say("\nNothing has changed. To do it: signalbox workspace gc");
  if (dryRun) return this.say("\nThere is nothing to clean up.");
  if (acts.length > 0 && !(await confirm(this, `Do that with ${count(acts.length, "thing")}?`, yes))) return;
  const answer = await call(routes.cleanWorkspaces, { body: about });
  if (json) return this.print(writeJson(answer));
  this.print(writeDone(this, answer.done, did));
  const freed = answer.done.reduce((sum, each) => sum + each.freed, 0);
  if (answer.done.every(({ what }) => what === "keep")) return this.say("\nThere is nothing to clean up.");
  if (freed > 0) this.say(`\nFreed ${writeSize(freed)}.`);
}

type Done = readonly { readonly what: keyof typeof did; readonly path: string; readonly reason: string }[];

function writeDone({ paint, tableWidth: width }: Context, done: Done, words: typeof did | typeof wouldDo): string {
  const columns = [{ title: "WHAT", paint: paint.bold }, { title: "PATH" }, { title: "WHY", isText: true }] as const;
  return writeTable(
    columns,
    done.map(({ what, path, reason }) => [words[what], path, reason]),
    width,
  );
}

const did = {
  release: "given back",
  adopt: "taken in",
  remove: "to the trash",
  delete: "deleted",
  keep: "kept",
} as const;
const wouldDo = {
  release: "would give back",
  adopt: "would take in",
  remove: "would go to the trash",
  delete: "would delete",
  keep: "would keep",
} as const;
