import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { exitCodes } from "../../exit-code.ts";
import { given } from "../../given.ts";
import { nameTask } from "../../name-task.ts";
import { tellMerge } from "../../tell-merge.ts";
import { writeJson } from "../../write-json.ts";

export interface MergeFlags {
  readonly strategy?: "merge" | "ff";
  readonly local: boolean;
  readonly "dry-run": boolean;
  readonly "no-give-back": boolean;
  readonly undo: boolean;
  readonly json: boolean;
}

export async function merge(this: Context, flags: MergeFlags, reference: string) {
  const { strategy, local, undo, json } = flags;
  const call = createCall(this);
  const about = await nameTask(call, reference);
  const body = given({ strategy, local, dryRun: flags["dry-run"], giveBack: !flags["no-give-back"] });
  const answer = await (undo
    ? call(routes.undoMerge, { ...about, body: {} })
    : call(routes.mergeTask, { ...about, body }));
  if (json) this.print(writeJson(answer));
  else tellMerge(this, answer);
  if (answer.state !== "merged" && answer.state !== "undone") this.process.exitCode = exitCodes.failed;
}
