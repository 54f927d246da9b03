import type { Call } from "../../../api/client.ts";
import { routes } from "../../../api/routes.ts";
import { createOnlooker } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { findSlotToShow, lastTaskOf } from "../../find-slot.ts";
import { pause } from "../../pause.ts";
import { unlessInterrupted, untilInterrupted } from "../../until-interrupted.ts";
import { printRun } from "../task/logs.ts";

interface LogsFlags {
  readonly project?: string;
  readonly follow: boolean;
  readonly color: boolean;
  readonly raw: boolean;
}

/** Every step of an agent is a run of its own: all of them, one after the other. */
export async function logs(this: Context, flags: LogsFlags, name: string) {
  const ending = untilInterrupted();
  const call = createOnlooker(this, ending);
  const task = lastTaskOf((await findSlotToShow(call, flags.project, name)).slot);
  await printRuns(this, call, task, flags, ending).catch(unlessInterrupted(ending));
}

async function printRuns(context: Context, call: Call, task: string, flags: LogsFlags, ending: AbortSignal) {
  const { follow, color, raw } = flags;
  const print = (which: { readonly run?: string }) =>
    printRun(context, call, { params: { task }, query: {}, which, follow, color, raw, ending });
  const told = new Set<string>();
  for (;;) {
    // Asked for first: a run that begins after that is seen the next time.
    const { phase } = (await call(routes.getTask, { params: { task }, query: {} })).task;
    const { runs } = await call(routes.listRuns, { query: { task, all: "true" } });
    const fresh = runs.filter(({ key, activity }) => activity !== "waiting" && !told.has(key));
    for (const { key } of fresh) {
      if (ending.aborted) return;
      told.add(key);
      context.say(context.talkPaint.dim(key));
      await print({ run: key });
    }
    // It says itself why there is nothing yet.
    if (told.size === 0 && !follow) return print({});
    if (!follow || ending.aborted || (phase === "over" && fresh.length === 0)) return;
    if (fresh.length === 0) await pause(interval, ending);
  }
}

const interval = 500;
