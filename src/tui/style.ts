import { type Depth, inDepth } from "./sgr.ts";

/** What a piece of a line is, so that it is drawn alike everywhere. */
export type Role = "title" | "strong" | "quiet" | "ask" | "good" | "bad" | "accent";

export type Mark = keyof typeof marks;

/** How lines are painted: no colour alone says anything, since every state has a mark of its own. */
export interface Style {
  readonly depth: Depth;
  paint(role: Role, text: string): string;
  /** The line under the cursor. */
  cursor(line: string): string;
  readonly mark: (mark: Mark) => string;
  /** A horizontal and a vertical line, and what a cut text ends with. */
  readonly rule: string;
  readonly bar: string;
  readonly more: string;
  /** Foreign text with SGR sequences, in no more colours than there are. */
  coloured(line: string): string;
}

export interface Looks {
  readonly depth: Depth;
  readonly isLight: boolean;
  readonly isAscii: boolean;
}

/** Each is one column: in Unicode, and in ASCII. */
const marks = {
  "needs-me": ["▲", "!"],
  running: ["●", "*"],
  queued: ["○", "."],
  over: ["✓", "+"],
  bad: ["✗", "x"],
  paused: ["‖", "="],
  folded: ["▸", ">"],
  unfolded: ["▾", "v"],
  cursor: ["›", ">"],
  chosen: ["◆", "#"],
  old: ["⌛", "?"],
  arrow: ["→", "-"],
} as const;

export function createStyle({ depth, isLight, isAscii }: Looks): Style {
  const codes =
    depth === 0 ? plainCodes : depth === 16 ? (isLight ? lightSixteen : darkSixteen) : isLight ? light : dark;
  const back = depth >= 256 ? (isLight ? "48;5;254" : "48;5;237") : "7";
  const [begin, end] = [`\u001b[${back}m`, depth >= 256 ? "\u001b[49m" : "\u001b[27m"];
  return {
    depth,
    paint(role, text) {
      const [on, off] = codes[role];
      return text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`;
    },
    cursor: (line) => `${begin}${line.replaceAll("\u001b[0m", `\u001b[0m${begin}`)}${end}`,
    mark: (mark) => marks[mark][isAscii ? 1 : 0],
    rule: isAscii ? "-" : "─",
    bar: isAscii ? "|" : "│",
    more: isAscii ? "~" : "…",
    coloured: (line) => inDepth(line, depth),
  };
}

type Codes = Readonly<Record<Role, readonly [on: string, off: string]>>;

const plainCodes: Codes = {
  title: ["1", "22"],
  strong: ["1", "22"],
  quiet: ["2", "22"],
  ask: ["1", "22"],
  good: ["22", "22"],
  bad: ["1", "22"],
  accent: ["22", "22"],
};
const darkSixteen: Codes = {
  ...plainCodes,
  ask: ["33", "39"],
  good: ["32", "39"],
  bad: ["31", "39"],
  accent: ["36", "39"],
};
const lightSixteen: Codes = { ...darkSixteen, ask: ["35", "39"], accent: ["34", "39"] };
const dark: Codes = {
  title: ["1", "22"],
  strong: ["1", "22"],
  quiet: ["38;5;246", "39"],
  ask: ["38;5;214", "39"],
  good: ["38;5;114", "39"],
  bad: ["38;5;203", "39"],
  accent: ["38;5;80", "39"],
};
const light: Codes = {
  ...dark,
  quiet: ["38;5;241", "39"],
  ask: ["38;5;130", "39"],
  good: ["38;5;22", "39"],
  bad: ["38;5;160", "39"],
  accent: ["38;5;25", "39"],
};

/** What the terminal can, by its variables. */
export function looksOf(env: Readonly<Record<string, string | undefined>>, colours: number): Looks {
  const { NO_COLOR, LC_ALL, LC_CTYPE, LANG, COLORFGBG } = env;
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  const [background] = (COLORFGBG ?? "").split(";").slice(-1);
  const depth = NO_COLOR ? 0 : colours <= 1 ? 0 : colours <= 4 ? 16 : colours <= 8 ? 256 : 16_777_216;
  return {
    depth,
    isLight: background === "7" || background === "15",
    // An unset locale is that of containers, whose terminals are as capable as others.
    isAscii: locale !== "" && !/utf-?8/i.test(locale),
  };
}
