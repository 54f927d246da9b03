import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { findSlot, lastTaskOf, mustSuit } from "../../find-slot.ts";
import { watchWork } from "../../watch-work.ts";
import { logs as logsOfTask } from "../task/logs.ts";
import { merge as mergeTask } from "../task/merge.ts";
import { peek as peekAtTask } from "../task/peek.ts";

interface Named {
  readonly project?: string;
}

export async function peek(
  this: Context,
  { project, ...flags }: Named & { readonly lines?: number; readonly color: boolean; readonly json: boolean },
  name: string,
) {
  const { slot } = await findSlot(createCall(this), project, name);
  await peekAtTask.call(this, flags, lastTaskOf(slot));
}

export async function logs(
  this: Context,
  { project, ...flags }: Named & { readonly follow: boolean; readonly color: boolean },
  name: string,
) {
  const { slot } = await findSlot(createCall(this), project, name);
  await logsOfTask.call(this, flags, lastTaskOf(slot));
}

export async function merge(this: Context, { project, json }: Named & { readonly json: boolean }, name: string) {
  const { slot } = await findSlot(createCall(this), project, name);
  mustSuit("merge", slot);
  const usual = { local: false, "dry-run": false, "no-give-back": false, undo: false };
  await mergeTask.call(this, { ...usual, json }, lastTaskOf(slot));
}

export async function dashboard(this: Context, { project, json }: Named & { readonly json: boolean }) {
  await watchWork(this, { open: "true", limit: "500", ...(project === undefined ? {} : { project }) }, json);
}
