import type { Clock } from "../../ports/system.ts";

/** A part of the output from a position on; without one, the last part. `next`: the position after it. */
export type ReadPart = (from: number | undefined) => Promise<{ readonly text: string; readonly next: number }>;

/** The text of a run's output while it is watched. Only the newest part is kept. */
export interface OutputText {
  /** The text after a position that `after` or `begin` has given. `isCut`: text after that position was not kept. */
  after(position: number): { readonly text: string; readonly next: number; readonly isCut: boolean };
  /** The position of the oldest text that is kept. */
  begin(): number;
  /** No more is read, except what has been written already. */
  end(): void;
}

interface OutputPorts {
  readonly clock: Clock;
  read: ReadPart;
  changed(): void;
  failed(error: unknown): void;
}

const interval = 300;
const maxKept = 256 * 1024;
/** Characters in one message. */
const maxPart = 64 * 1024;

export function createOutputText({ clock, read, changed, failed }: OutputPorts): OutputText {
  let kept = "";
  /** The position of the first character that is kept; characters count from the beginning of the watch. */
  let begin = 0;
  let from: number | undefined;
  let isOver = false;
  const poll = async () => {
    for (;;) {
      const part = await read(from);
      const hasMore = part.next !== from;
      from = part.next;
      if (part.text !== "") {
        const whole = kept + part.text;
        kept = whole.slice(-maxKept);
        begin += whole.length - kept.length;
        changed();
      }
      if (!hasMore) return;
    }
  };
  const loop = async () => {
    const isLast = isOver;
    await poll().catch(failed);
    if (!isLast) clock.after(interval, () => void loop());
  };
  void loop();
  return {
    begin: () => begin,
    after(position) {
      const at = Math.max(position, begin);
      const text = kept.slice(at - begin, at - begin + maxPart);
      return { text, next: at + text.length, isCut: at > position };
    },
    end: () => {
      isOver = true;
    },
  };
}
