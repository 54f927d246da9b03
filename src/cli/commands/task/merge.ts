import { routes } from "../../../api/routes.ts";
import type { Context } from "../../context.ts";
import { forEach } from "../../for-each.ts";
import { given } from "../../given.ts";
import { nameTask } from "../../name-task.ts";
import { tellMerge } from "../../tell-merge.ts";

export interface MergeFlags {
  readonly strategy?: "merge" | "ff";
  readonly local: boolean;
  readonly "dry-run": boolean;
  readonly "no-give-back": boolean;
  readonly undo: boolean;
  readonly json: boolean;
}

export function merge(this: Context, flags: MergeFlags, ...references: readonly string[]) {
  const { strategy, local, undo, json } = flags;
  const body = given({ strategy, local, dryRun: flags["dry-run"], giveBack: !flags["no-give-back"] });
  return forEach(this, references, json, {
    act: async (_, call, reference) => {
      const about = await nameTask(call, reference);
      return undo ? call(routes.undoMerge, { ...about, body: {} }) : call(routes.mergeTask, { ...about, body });
    },
    isFailed: ({ state }) => state !== "merged" && state !== "undone",
    tell: tellMerge,
  });
}
