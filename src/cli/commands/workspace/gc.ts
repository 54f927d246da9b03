import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { given } from "../../given.ts";
import { writeTable } from "../../table.ts";
import { writeJson } from "../../write-json.ts";
import { writeSize } from "../../write-size.ts";

export interface GcFlags {
  readonly project?: string;
  readonly "dry-run": boolean;
  readonly json: boolean;
}

export async function gc(this: Context, { project, "dry-run": dryRun, json }: GcFlags) {
  const answer = await createCall(this)(routes.cleanWorkspaces, { body: { ...given({ project }), dryRun } });
  if (json) return this.print(writeJson(answer));
  const { done } = answer;
  if (done.length === 0) return this.say("There are no workspaces, and nothing is in the trash.");
  const columns = [{ title: "WHAT", paint: this.paint.bold }, { title: "PATH" }, { title: "WHY" }] as const;
  const words = dryRun ? wouldDo : did;
  const rows = done.map(({ what, path, reason }) => [words[what], path, reason]);
  this.print(writeTable(columns, rows, this.columns));
  const freed = done.reduce((sum, each) => sum + each.freed, 0);
  if (done.every(({ what }) => what === "keep")) return this.say("\nThere is nothing to clean up.");
  if (dryRun) return this.say("\nNothing has changed. To do it: signalbox workspace gc");
  if (freed > 0) this.say(`\nFreed ${writeSize(freed)}.`);
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
