import type { Notifier } from "../../ports/notifier.ts";
import { shownText } from "./shown-text.ts";

export interface TerminalOptions {
  write(text: string): void;
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const esc = "\u001b";
const bell = "\u0007";

/**
 * Asks the terminal to show notes, in both ways that terminals know (OSC 9 and OSC 777), and rings its bell. Does nothing
 * where there is no terminal. tmux hands them on only with `allow-passthrough on`.
 */
export function terminal({ write, isTTY, env }: TerminalOptions): Notifier {
  return {
    async notify({ title, text }) {
      if (!isTTY) return;
      const head = partOf(title, 200);
      const body = partOf(text, 500);
      const sequences = [`9;${[head, body].filter(Boolean).join(": ")}`, `777;notify;${head};${body}`];
      const wrap = env.TMUX ? throughTmux : (sequence: string) => sequence;
      // The bell is for tmux too: it marks the window.
      write(sequences.map((each) => wrap(`${esc}]${each}${bell}`)).join("") + bell);
    },
  };
}

/** A semicolon would end the part; after a number at the beginning of OSC 9 it would even be a command. */
function partOf(text: string, longest: number): string {
  return shownText(text, longest).replaceAll(";", ",");
}

function throughTmux(sequence: string): string {
  return `${esc}Ptmux;${sequence.replaceAll(esc, esc + esc)}${esc}\\`;
}
