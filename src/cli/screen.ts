import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "./context.ts";
import { visible } from "./fast/tell.ts";
import { shownOutput } from "./text.ts";

/** A full screen that is redrawn, and that leaves no trace afterwards. */
interface LiveScreen {
  /** Draws these lines; only changed lines are written. */
  draw(lines: readonly string[]): void;
  /** Redraw everything next time, because the size has changed. */
  forget(): void;
  /** Restores the terminal. Idempotent. */
  leave(): void;
  /** Takes over the terminal again after `leave`. */
  enter(): void;
}

const csi = "\u001b[";
/** The alternate screen, without a cursor; the terminal cuts long lines and does not wrap them. */
const begin = `${csi}?1049h${csi}?25l${csi}?7l${csi}2J`;
const end = `${csi}?7h${csi}?25h${csi}?1049l`;

export function createLiveScreen(stdout: Pick<NodeJS.WriteStream, "write">): LiveScreen {
  let shown: readonly string[] = [];
  let isOn = false;
  const write = (text: string) => void stdout.write(text);
  return {
    enter() {
      if (isOn) return;
      isOn = true;
      shown = [];
      write(begin);
    },
    leave() {
      if (!isOn) return;
      isOn = false;
      write(end);
    },
    forget() {
      shown = [];
      if (isOn) write(`${csi}2J`);
    },
    draw(lines) {
      if (!isOn) return;
      let changes = "";
      for (let row = 0; row < Math.max(lines.length, shown.length); row++) {
        const line = lines[row] ?? "";
        if (line !== shown[row]) changes += `${csi}${row + 1};1H${visible(line)}${csi}0m${csi}K`;
      }
      shown = lines;
      // A synchronised update; terminals that do not support it ignore the sequence.
      if (changes !== "") write(`${csi}?2026h${changes}${csi}?2026l`);
    },
  };
}

/** Waits this many milliseconds, or until the signal fires. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}

/** Prints an agent's output, made safe for a terminal. */
export function printOutput(context: Context, text: string, isStyled: boolean): void {
  const shown = shownOutput(text, isStyled);
  if (shown === "") return;
  const line = shown.endsWith("\n") ? shown : `${shown}\n`;
  // `print` allows only plain colours; this text already has nothing but styles.
  if (isStyled) context.process.stdout.write(line);
  else context.print(line);
}

/** Runs a program in this terminal until it ends. Undefined variables are unset. Returns what went wrong. */
export function runInTerminal(
  [program = "", ...args]: readonly string[],
  changes: Readonly<Record<string, string | undefined>>,
  cwd?: string,
): Promise<string | undefined> {
  // Ctrl-C and Ctrl-\ are for the program, not for us.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  process.on("SIGQUIT", ignore);
  return new Promise<string | undefined>((resolve) => {
    const child = spawn(program, args, {
      stdio: "inherit",
      env: { ...process.env, ...changes },
      ...(cwd === undefined ? {} : { cwd }),
    });
    child.on("error", (error: NodeJS.ErrnoException) => resolve(`cannot be started (${error.code})`));
    child.on("exit", (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(signal === null ? `ended with ${code}` : `was ended by ${signal}`);
    });
  }).finally(() => {
    process.off("SIGINT", ignore);
    process.off("SIGQUIT", ignore);
  });
}

/** Makes a log from repeated snapshots of a screen. */
interface ScreenLog {
  /** New lines that no longer change; at the end also the others. */
  take(screen: string, isLast: boolean): string;
}

/** A line counts after it was seen twice in the same place, which excludes clocks and spinners. */
export function createScreenLog(): ScreenLog {
  let before: readonly string[] = [];
  let told: readonly string[] = [];
  return {
    take(screen, isLast) {
      const lines = screen.trimEnd().split("\n");
      const still = lines.filter((line, i) => (isLast || before[i] === line) && line.trim() !== "");
      before = lines;
      const fresh = withoutThose(still, told);
      told = isLast ? told : [...told, ...fresh].slice(-maxTold);
      return fresh.join("\n");
    },
  };
}

const maxTold = 20_000;

/** Removes one equal line for each line that was printed before. */
function withoutThose(lines: readonly string[], told: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of told) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const left = counts.get(line) ?? 0;
    if (left > 0) counts.set(line, left - 1);
    return left === 0;
  });
}

/**
 * Shows a text that may be long: on a terminal in the person's pager, without control sequences; elsewhere
 * unchanged, so that a patch can be applied.
 */
export async function showPaged(context: Context, text: string): Promise<void> {
  if (text === "") return;
  if (!context.isTerminal || !process.stdin.isTTY) {
    if (context.isTerminal) context.print(text);
    else context.process.stdout.write(text);
    return;
  }
  const { PAGER = "less" } = process.env;
  if (PAGER === "" || PAGER === "cat" || !(await page(PAGER, visible(text)))) context.print(text);
}

/** False if the pager cannot be started. The command is parsed as git does it. */
function page(pager: string, text: string): Promise<boolean> {
  const isWord = /^[\w./+:@-]+$/.test(pager);
  const [command, args] = isWord ? [pager, []] : ["sh", ["-c", pager]];
  // Like git: a short text is only printed, and colours are shown.
  const env = { LESS: "FRX", ...process.env };
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["pipe", "inherit", "inherit"], env });
    child.on("error", () => resolve(false));
    child.on("exit", () => resolve(true));
    // The person may quit the pager early.
    child.stdin.on("error", () => {});
    child.stdin.end(text);
  });
}

/** The bytes of keys in raw mode: q, Q, Escape, Ctrl-C and Ctrl-D end, Ctrl-Z suspends. */
const ends = new Set(["q", "Q", "\u001b", "\u0003", "\u0004"]);
const stops = "\u001a";

/**
 * Handles keys and signals until the person leaves or the returned function is called; then restores the terminal. A key
 * that neither ends nor suspends goes to `onOther`.
 */
export function watchKeys(
  screen: LiveScreen,
  redraw: () => void,
  end: () => void,
  onOther: (key: string) => void = () => {},
): () => void {
  const { stdin, stdout } = process;
  const hasKeys = stdin.isTTY === true;
  let isOver = false;
  const take = () => {
    screen.enter();
    if (hasKeys) stdin.setRawMode(true);
  };
  const give = () => {
    if (hasKeys) stdin.setRawMode(false);
    screen.leave();
  };
  const onKey = (bytes: Buffer) => {
    const key = bytes.toString("latin1");
    if (ends.has(key)) return end();
    if (key !== stops) return onOther(key);
    give();
    process.kill(process.pid, "SIGTSTP");
    // No timer runs while we are suspended. In an orphaned process group the system does not suspend us.
    setTimeout(() => {
      if (isOver) return;
      take();
      redraw();
    }, 100);
  };
  const onResize = () => {
    screen.forget();
    redraw();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, end);
  // Restore the terminal after an error too.
  process.on("exit", give);
  stdout.on("resize", onResize);
  if (hasKeys) stdin.on("data", onKey).resume();
  take();
  return () => {
    isOver = true;
    give();
    for (const signal of signals) process.off(signal, end);
    process.off("exit", give);
    stdout.off("resize", onResize);
    if (hasKeys) stdin.off("data", onKey).pause();
  };
}

/** Fires on Ctrl-C or SIGTERM. */
export function untilInterrupted(): AbortSignal {
  const ending = new AbortController();
  process.once("SIGINT", () => ending.abort());
  process.once("SIGTERM", () => ending.abort());
  return ending.signal;
}

/** An error after an interruption is not a failure. */
export function unlessInterrupted(ending: AbortSignal): (error: unknown) => undefined {
  return (error) => {
    if (!ending.aborted) throw error;
    return undefined;
  };
}
