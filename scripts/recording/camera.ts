import { setTimeout as sleep } from "node:timers/promises";
import type { openTerminal } from "../../test/e2e/at-terminal.ts";
import type { Frame } from "./animation.ts";
import { rowsOf } from "./cells.ts";

const pollInterval = 40;
/** A screen that has not changed for so long is at rest. */
const restTime = 240;
/** While agents work, the screen hardly rests. */
const maxWait = 400;
const takeTimeout = 60_000;

interface Shot {
  /** What the person has pressed before, as it is shown. */
  readonly keys?: readonly string[];
  readonly caption: string;
  /** How long it is seen. */
  readonly seconds: number;
  /** What the screen must show. */
  readonly shows: RegExp;
}

/** Takes the frames of a real terminal. */
export function createCamera({ tmux }: Pick<ReturnType<typeof openTerminal>, "tmux">, columns: number) {
  const frames: Frame[] = [];
  const look = () => tmux("capture-pane", "-p", "-e", "-N").replace(/\n$/, "");
  return {
    frames: frames as readonly Frame[],
    /** Waits until the screen shows this, and then for a rest. */
    async take({ keys = [], caption, seconds, shows }: Shot): Promise<void> {
      const end = Date.now() + takeTimeout;
      let [seen, since, shownSince] = ["", 0, Number.POSITIVE_INFINITY];
      for (;;) {
        const now = Date.now();
        const lines = look();
        if (lines !== seen) [seen, since] = [lines, now];
        const rows = await rowsOf(lines.split("\n"), columns);
        const text = textOf(rows);
        const isShown = shows.test(text);
        shownSince = isShown ? Math.min(shownSince, now) : Number.POSITIVE_INFINITY;
        if (isShown && (now - since >= restTime || now - shownSince >= maxWait))
          return void frames.push({ rows, keys, caption, seconds });
        if (now > end) throw new Error(`The screen never showed ${shows}, but:\n${text}`);
        await sleep(pollInterval);
      }
    },
  };
}

function textOf(rows: Frame["rows"]): string {
  return rows.map((row) => row.reduce((line, { at, text }) => `${line.padEnd(at)}${text}`, "").trimEnd()).join("\n");
}
