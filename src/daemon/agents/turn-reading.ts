import type { Harness, HarnessEvent, TurnEnd } from "../../ports/harness.ts";
import type { ProcessEnd, Processes } from "../../ports/processes.ts";
import type { StartedRun, Usage } from "../../ports/records.ts";
import type { TailPosition } from "../../ports/tail.ts";
import { processName } from "./run-name.ts";

/** What a run without a terminal prints, read as it comes. */
export interface TurnReading {
  /** What was printed since the last read, a few megabytes at most. */
  read(): Promise<PrintedPart>;
  process(): Promise<"absent" | "running" | "ended" | "lost">;
  /** How it ended, once it has; everything that it printed was read. */
  end(): Promise<ReadEnd | undefined>;
}

export interface PrintedPart {
  readonly events: readonly HarnessEvent[];
  readonly grew: boolean;
  /** How far it was read. */
  readonly position: number;
  readonly hasMore: boolean;
}

export interface ReadEnd {
  readonly end: ProcessEnd;
  readonly turn: TurnEnd;
  /** What was learnt since the last read. */
  readonly events: readonly HarnessEvent[];
  readonly position: number;
}

/**
 * How far usage was counted in what a turn prints. Each time it is asked again it prints from the beginning; `isEnd`: what
 * is learnt only at its end was counted too.
 */
export function countedUpTo({ part }: StartedRun, offset: number, isEnd = false): TailPosition {
  return { offset, before: isEnd ? `${part} end` : `${part}` };
}

export function countedOf(usage: Usage | undefined, { part }: StartedRun): { offset: number; isEnd: boolean } {
  const { offset, before } = usage?.position ?? { offset: 0, before: "" };
  const isEnd = before === `${part} end`;
  return isEnd || before === `${part}` ? { offset, isEnd } : { offset: 0, isEnd: false };
}

const chunk = 1024 ** 2;
/** Chunks that are read at once. The supervisor bounds what a program prints; what was printed by its end is needed whole. */
const mostAtOnce = 8;
const mostAtEnd = 1_024;
const mostErrors = 16_384;

/**
 * `counted` is how far usage was counted before we were started: everything is read again, because what is known of a turn is
 * known only to us, but what was counted is not counted twice.
 */
export function readTurnOutput(
  processes: Processes,
  harness: Harness,
  started: StartedRun,
  runFolder: string,
  counted: number,
): TurnReading {
  const id = processName(started);
  const reader = harness.readOutput({ run: started.name, runFolder });
  let position = 0;
  let last: ReadEnd | undefined;

  const readOn = async (chunks: number): Promise<PrintedPart> => {
    const events: HarnessEvent[] = [];
    const from = position;
    let hasMore = true;
    for (let i = 0; i < chunks; i++) {
      const most = position < counted ? Math.min(chunk, counted - position) : chunk;
      const bytes = await processes.read(id, "output", position, most);
      hasMore = bytes.length > 0;
      if (!hasMore) break;
      const learnt = reader.push(bytes);
      position += bytes.length;
      for (const event of learnt) if (position > counted || event.kind !== "usage") events.push(event);
    }
    return { events, grew: position > from, position, hasMore };
  };

  return {
    read: () => readOn(mostAtOnce),
    async process() {
      return (await processes.look(id)).kind;
    },
    async end() {
      const state = await processes.look(id);
      const end = state.kind === "ended" ? state : undefined;
      if (end === undefined) return undefined;
      if (last !== undefined) return { ...last, events: [] };
      const { events } = await readOn(mostAtEnd);
      const turn = reader.end(end, await lastErrors(processes, id));
      last = { end, turn, events: [...events, ...turn.events], position };
      return last;
    },
  };
}

export async function lastErrors(processes: Processes, id: string): Promise<string> {
  let all = new Uint8Array();
  for (let at = 0; at < mostAtEnd * chunk; ) {
    const bytes = await processes.read(id, "errors", at, chunk);
    if (bytes.length === 0) break;
    at += bytes.length;
    const joined = new Uint8Array(all.length + bytes.length);
    joined.set(all);
    joined.set(bytes, all.length);
    all = joined.slice(-mostErrors);
  }
  return new TextDecoder().decode(all);
}
