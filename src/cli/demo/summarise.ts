import type { UsageRow } from "../../api/agent-wires.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Exported } from "./read-export.ts";
import { type Stay, verdictOf, withStay } from "./story.ts";
import { demoTasks } from "./tasks.ts";

/** What became of one task. Times are milliseconds. */
export interface Told {
  readonly id: string;
  readonly number: number;
  readonly branch: string;
  readonly summary: string;
  readonly about: string;
  readonly status: string;
  readonly took: number;
  readonly stays: readonly { readonly status: string; readonly took: number }[];
  readonly reviews: readonly Review[];
  /** Undefined where nothing was asked. */
  readonly question: { readonly asked: string; readonly answered: string } | undefined;
  readonly crashes: readonly Crash[];
  /** The commit that brought it into the branch. */
  readonly merged: string;
  readonly usage: Pick<UsageRow, "runs" | "inputTokens" | "outputTokens" | "cachedTokens" | "cost" | "unknown">;
  readonly events: number;
  /** Its history, replayed, gives the same task. */
  readonly replays: boolean;
}

interface Review {
  readonly run: string;
  readonly verdict: string;
  readonly text: string;
}

interface Crash {
  readonly run: string;
  readonly status: string;
  readonly reason: string;
  /** Who went on, and how long that took. */
  readonly next: string;
  readonly after: number;
}

export function summarise(exported: Exported, usage: Told["usage"], workflow: Workflow): Told {
  const { task, events, replays } = exported;
  const { id, number, branch, summary, status } = task;
  const flat = events.map(({ event, at }) => ({ type: event.type, by: event.by, data: event.data, at }));
  const stays = flat.reduce<readonly Stay[]>(
    (all, event) => withStay(all, { ...event, at: new Date(event.at).toISOString() }),
    [],
  );
  const ended = stays
    .slice(0, -1)
    .map(({ status: name, from, until = from }) => ({ status: name, took: until - from }));
  return {
    ...{ id, number, branch, summary, status, usage, replays },
    about: demoTasks.find((each) => each.branch === branch)?.about ?? "",
    took: ended.reduce((sum, { took }) => sum + took, 0),
    stays: ended,
    reviews: reviewsIn(exported, workflow),
    question: questionIn(exported),
    crashes: crashesIn(flat, stays),
    merged: textOf(flat.findLast(({ type }) => type === "merge.landed")?.data.after),
    events: events.length,
  };
}

type Flat = readonly {
  readonly type: string;
  readonly by: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly at: number;
}[];

/** Every section that opened a gate by its verdict, with what else stood in it. */
function reviewsIn({ events, artifacts }: Exported, workflow: Workflow): readonly Review[] {
  return events.flatMap(({ event: { type, data } }) => {
    if (type !== "task.moved" || !Array.isArray(data.evidence)) return [];
    return (data.evidence as readonly { section: string; run: string }[]).flatMap(({ section, run }) => {
      const verdict = verdictOf(workflow, { from: textOf(data.from), to: textOf(data.to), section });
      if (verdict === undefined) return [];
      const written = artifacts.findLast((each) => each.section === section && each.run === run)?.text ?? "";
      return [{ run, verdict, text: written.split("\n").slice(1).join(" ").trim() }];
    });
  });
}

/** An answer stands below the time at which it was given. */
function questionIn({ sections: { Questions: asked, Answers: answers } }: Exported): Told["question"] {
  if (asked === undefined || answers === undefined) return undefined;
  return { asked: asked.trim(), answered: answers.replace(/^### .*$/gm, "").trim() };
}

function crashesIn(events: Flat, stays: readonly Stay[]): readonly Crash[] {
  const isEnd = ({ type }: Flat[number]) => type === "agent.ended";
  return events.flatMap((event, i) => {
    const { data, at } = event;
    if (!isEnd(event) || textOf(data.run) === "") return [];
    // How the wait for it ended is told right behind it.
    const { reason, word } = events.slice(i + 1).find(isEnd)?.data ?? data;
    const next = events.slice(i).find((each) => each.type === "agent.started");
    return [
      {
        run: textOf(data.run),
        status: stays.findLast(({ from }) => from < at)?.status ?? "",
        reason: textOf(reason) || textOf(word),
        next: textOf(next?.data.run),
        after: next === undefined ? 0 : next.at - at,
      },
    ];
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
