import type { TaskEvent } from "../../engine/decision.ts";
import { reportOf } from "../../engine/handed.ts";
import type { Task } from "../../engine/task.ts";
import type { Run } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { eventsOf } from "../project.ts";
import type { Answer } from "../submit.ts";

/** The fields of a run's record that its end sets: how its workflow counted the end, and what the run said. */
export async function endingOf(
  store: Store,
  run: Pick<Run, "task" | "key">,
  before: Task | undefined,
  { decision }: Answer,
  { word, reason }: { readonly word: string; readonly reason: string },
): Promise<Pick<Run, "word" | "report" | "error">> {
  const isSaved = decision.kind === "moved" || decision.kind === "stayed";
  const known = before && reportOf(before, run.key);
  if (isSaved) return fields(decision.events, run.key, known, word, reason);
  // An earlier daemon reported the end, and was killed before it closed the record.
  const events: TaskEvent[] = [];
  for await (const { event } of eventsOf(store, run.task)) if (event.data.run === run.key) events.push(event);
  const said = events.findLast(({ type }) => type === "work.completed")?.data;
  const report = said && { summary: String(said.summary), outcome: String(said.outcome) };
  return fields(events, run.key, report, word, reason);
}

function fields(
  events: readonly TaskEvent[],
  run: string,
  report: Run["report"],
  word: string,
  reason: string,
): Pick<Run, "word" | "report" | "error"> {
  const ended = events.find(({ type, data }) => type === "agent.ended" && data.run === run);
  const counted = typeof ended?.data.word === "string" ? ended.data.word : word;
  const isGood = counted === "ok" || counted === "step";
  return {
    word: counted,
    ...(report === undefined ? {} : { report: { summary: report.summary, outcome: report.outcome } }),
    ...(isGood || reason === "" ? {} : { error: reason }),
  };
}

/** How a run stands, in a word. */
export function statusOf({
  endedAt,
  pid,
  word,
  report,
}: Run): "waiting" | "running" | "completed" | "failed" | "stopped" {
  if (endedAt === undefined) return pid === 0 ? "waiting" : "running";
  if (word === "ok" || word === "step" || report !== undefined) return "completed";
  return word === "killed" || word === "lost" ? "stopped" : "failed";
}
