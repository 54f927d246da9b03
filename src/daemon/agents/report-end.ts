import { oneLine } from "../../engine/last-words.ts";
import type { RunEnd } from "../../engine/request.ts";
import type { Places } from "../../home/places.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import { publishAgents } from "../agents-at-work.ts";
import type { Callers } from "../caller.ts";
import type { Answer, Submit } from "../submit.ts";
import { runRecordId } from "./run-name.ts";

export interface ReportPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly places: Places;
  readonly callers: Pick<Callers, "revoke">;
  readonly submit: Submit;
}

export interface ReportedEnd {
  readonly word: RunEnd;
  readonly reason?: string;
  readonly answer?: unknown;
}

/**
 * A run has ended: what it shows is not believed any more, and the engine is told. Only then it is noted as ended: if we die
 * in between, it is found and judged again, and the engine takes the second report for what it is.
 */
export async function reportEnd(
  { store, clock, places, callers, submit }: ReportPorts,
  task: string,
  run: string,
  { word, reason = "", answer }: ReportedEnd,
): Promise<Answer> {
  await callers.revoke(task, run);
  const told = await submit(task, {
    ...{ kind: "ended", run, word },
    // What it says goes into history and to people's terminals.
    ...(reason === "" ? {} : { reason: oneLine(reason) }),
    ...(answer === undefined ? {} : { answer }),
  });
  const known = await store.runs.get(runRecordId(task, run));
  if (known !== undefined && known.endedAt === undefined)
    await store.runs.put({ ...known, endedAt: clock.now(), word });
  await publishAgents({ store, places });
  return told;
}
