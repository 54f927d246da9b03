import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { HarnessError } from "../ports/harness.ts";

/** The state of one conversation, kept between messages and between processes. */
export interface Session {
  readonly id: string;
  /** The file with everything that is said in it, one line of JSON each. */
  readonly transcript: string;
  /** Which session of the role for the task it is, from 1. */
  readonly run: number;
  /** The number of messages so far. */
  turns(): number;
  /** How often each turn of the script was played in it. */
  played(): Readonly<Record<string, number>>;
  /** Records that a message has come, and which turn is played for it. */
  begin(turn: string | undefined): void;
  note(line: Readonly<Record<string, unknown>>): void;
  close(): void;
}

interface SessionOrder {
  /** The folder with the state of all scripted agents. */
  readonly state: string;
  readonly id: string;
  readonly kind: "new" | "resume";
  readonly role: string;
  readonly task: string;
}

interface Remembered {
  readonly turns: number;
  readonly played: Readonly<Record<string, number>>;
  readonly run: number;
}

/** Opens a session and locks it for this process. */
export function openSession({ state, id, kind, role, task }: SessionOrder): Session | HarnessError {
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/.test(id))
    return refusal("session-unknown", `"${id}" cannot be the id of a session: use letters, digits and hyphens.`);
  const folder = join(state, "sessions");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${id}.json`);
  const transcript = join(folder, `${id}.jsonl`);
  const lock = join(folder, `${id}.lock`);
  if (kind === "resume" && !existsSync(file))
    return refusal("session-unknown", `There is no session ${id}, so it cannot be resumed.`);
  if (kind === "new" && existsSync(file))
    return refusal("session-in-use", `The session ${id} already exists. Resume it, or use another id.`);
  if (!take(lock)) return refusal("session-in-use", `The session ${id} is open in another process.`);

  let remembered: Remembered =
    kind === "resume"
      ? (JSON.parse(readFileSync(file, "utf8")) as Remembered)
      : { turns: 0, played: {}, run: numberOf(join(state, "runs", nameOf(task)), role, id) };
  const save = () => {
    writeFileSync(`${file}.new`, JSON.stringify(remembered), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  save();
  return {
    id,
    transcript,
    run: remembered.run,
    turns: () => remembered.turns,
    played: () => remembered.played,
    begin(turn) {
      const { played } = remembered;
      const counted = turn === undefined ? played : { ...played, [turn]: (played[turn] ?? 0) + 1 };
      remembered = { ...remembered, turns: remembered.turns + 1, played: counted };
      save();
    },
    note: (line) => appendFileSync(transcript, `${JSON.stringify(line)}\n`, { mode: 0o600 }),
    close: () => rmSync(lock, { force: true }),
  };
}

/** Counters of a task. Each is a file that grows by one byte, so that several agents can count at the same time. */
export function countersOf(state: string, task: string) {
  const folder = join(state, "counters", nameOf(task));
  const fileOf = (name: string) => join(folder, nameOf(name));
  return {
    read: (name: string): number => statSync(fileOf(name), { throwIfNoEntry: false })?.size ?? 0,
    increment(name: string): void {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      appendFileSync(fileOf(name), ".", { mode: 0o600 });
    },
  };
}

function refusal(kind: HarnessError["kind"], message: string): HarnessError {
  return { kind, message, resetAt: undefined };
}

/** The number of a session among those of its role, in the order of opening. */
function numberOf(folder: string, role: string, id: string): number {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, nameOf(role));
  appendFileSync(file, `${id}\n`, { mode: 0o600 });
  return readFileSync(file, "utf8").split("\n").indexOf(id) + 1;
}

function take(lock: string): boolean {
  const own = identityOf(process.pid);
  try {
    writeFileSync(lock, own, { flag: "wx", mode: 0o600 });
    return true;
  } catch {
    const holder = readFileSync(lock, "utf8");
    if (holder !== "" && holder === identityOf(Number.parseInt(holder, 10))) return false;
    writeFileSync(lock, own, { mode: 0o600 });
    return true;
  }
}

/** A pid alone may belong to another process by now, so the start time is added if the system shows it. */
function identityOf(pid: number): string {
  try {
    process.kill(pid, 0);
    const stat = existsSync("/proc/self/stat") ? readFileSync(`/proc/${pid}/stat`, "utf8") : "";
    // The name in parentheses may contain anything; the start time is the twentieth field after it.
    return `${pid} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""}`;
  } catch {
    return "";
  }
}

/** The text as a valid file name. */
function nameOf(text: string): string {
  return encodeURIComponent(text === "" ? "none" : text).replaceAll(".", "%2E");
}
