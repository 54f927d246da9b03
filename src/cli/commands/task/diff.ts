import { routes } from "../../../api/routes.ts";
import type { DiffPart, DiffView } from "../../../api/work-routes.ts";
import { Fault } from "../../../fault.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { showPaged } from "../../show-paged.ts";
import { paintPatch, writeStat } from "../../write-diff.ts";
import { writeJson } from "../../write-json.ts";

export interface DiffFlags {
  readonly stat: boolean;
  readonly "name-only": boolean;
  readonly committed: boolean;
  readonly json: boolean;
}

export async function diff(this: Context, flags: DiffFlags, reference: string) {
  const { stat, "name-only": names, committed, json } = flags;
  if (stat && names)
    throw new Fault("usage", "--stat and --name-only cannot both be given.", { hint: "Leave one of them out." });
  const call = createCall(this);
  const { params, query } = await nameTask(call, reference);
  const { task } = await call(routes.getTask, { params, query });
  const text = stat || names ? "false" : "true";
  const about = { params: { task: task.id }, query: { text, committed: committed ? "true" : "false" } } as const;
  const view = await call(routes.diffTask, about);
  if (json) return this.print(writeJson(view));
  this.say(headline(shownTask(task), view));
  const write = (part: DiffPart) =>
    stat ? writeStat(part, this) : names ? namesOf(part) : paintPatch(part.text, this);
  const parts = [write(view.committed)];
  if (view.uncommitted !== null)
    parts.push(`${this.paint.yellow(`# Not committed yet, in ${view.workspace}:`)}\n`, write(view.uncommitted));
  await showPaged(this, parts.join(""));
  if (view.committed.isCut || view.uncommitted?.isCut)
    this.say(`There is more than is shown here. Look at it in git: git diff ${view.base} ${view.commit}`);
}

function headline(name: string, { target, base, commit, committed, uncommitted }: DiffView): string {
  if (commit === "")
    return `${name} has no commit yet${uncommitted === null ? "" : ", but something is not committed"}.`;
  const [changed, at] = [count(committed.files.length, "file"), commit.slice(0, 10)];
  if (base === commit) return `${name} has no commit that ${target} has not, as it is at ${at}.`;
  return `${name} changes ${changed} against ${target}, as it is at ${at}.`;
}

function namesOf({ files }: DiffPart): string {
  return files.map(({ path }) => `${path}\n`).join("");
}
