import { Fault } from "../../fault.ts";
import type { ProcessIdentity, ProcessTable } from "../../ports/processes.ts";
import { sleep } from "./sleep.ts";

export interface Family {
  /** The program; undefined where nobody knows who it was. */
  readonly head: ProcessIdentity | undefined;
  /** What only they have in their environment: `NAME=value`. */
  readonly entry: string;
  /** Only for whoever has been there all the time: the head's number, where it is dead, is still only that of its group. */
  readonly keepsGroup?: boolean;
}

const pace = 20;
/** Milliseconds after which whoever was killed and still lives is given up. */
const longest = 10_000;

/**
 * Ends a program with everybody who descends from it, belongs to its group or its session, or bears its mark: gently,
 * and after the grace not gently. Returns the signal that was needed last, once nobody of them lives; empty where nobody
 * lived in the first place.
 */
export async function endFamily(
  table: ProcessTable,
  family: Family,
  grace: number,
  patience = longest,
): Promise<"" | "SIGTERM" | "SIGKILL"> {
  // Whoever was seen once is remembered: when a parent dies nobody can tell any more where its children came from.
  const known = new Map<string, ProcessIdentity>();
  const told = new Set<string>();
  let last: "" | "SIGTERM" | "SIGKILL" = "";
  const deadline = performance.now() + grace;
  for (;;) {
    await seek(table, family, known);
    if (known.size === 0) return last;
    if (performance.now() >= deadline + patience) throw undying([...known.values()]);
    const signal = performance.now() >= deadline ? "SIGKILL" : "SIGTERM";
    for (const [key, identity] of known) {
      // The gentle signal is for everybody once: a second one makes some programs drop what they were putting in order.
      if (signal === "SIGTERM" && told.has(key)) continue;
      told.add(key);
      if (await table.isAlive(identity)) tell(identity.pid, signal);
    }
    last = signal;
    await rest(table, known, signal === "SIGKILL" ? performance.now() + 500 : deadline);
  }
}

/** Brings what is known up to date: who is there, and no longer who is not. */
async function seek(table: ProcessTable, family: Family, known: Map<string, ProcessIdentity>): Promise<void> {
  const { head, entry, keepsGroup = false } = family;
  const heads = [...known.values(), ...(head === undefined ? [] : [head])];
  const bearers = table.bearersOf(entry);
  const families = heads.map(async (each) => {
    // Its number may be somebody else's by now, with a family of their own.
    const isTheirs = (await table.isAlive(each)) || (each === head && keepsGroup && !(await table.identify(each.pid)));
    if (isTheirs) return table.familyOf(each.pid);
    known.delete(keyOf(each));
    return [];
  });
  for (const found of await Promise.all([bearers, ...families])) for (const identity of found) add(known, identity);
}

/** Until nobody of them lives, or the time has come. */
async function rest(table: ProcessTable, known: ReadonlyMap<string, ProcessIdentity>, until: number): Promise<void> {
  while (performance.now() < until) {
    const living = await Promise.all([...known.values()].map((each) => table.isAlive(each)));
    if (!living.includes(true)) return;
    await sleep(Math.min(pace, Math.max(1, until - performance.now())));
  }
}

function add(known: Map<string, ProcessIdentity>, identity: ProcessIdentity): void {
  // A daemon that an agent had started would otherwise end itself.
  if (identity.pid !== process.pid) known.set(keyOf(identity), identity);
}

function keyOf({ pid, start }: ProcessIdentity): string {
  return `${pid} ${start}`;
}

function tell(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
    // One that is stopped would not hear the gentle signal before it goes on.
    if (signal === "SIGTERM") process.kill(pid, "SIGCONT");
  } catch {
    // It has ended by itself, or is not ours to end.
  }
}

function undying(identities: readonly ProcessIdentity[]): Fault {
  const pids = identities.map(({ pid }) => pid).join(", ");
  return new Fault("processes.undying", `Not everything that a run has started can be ended: ${pids} still lives.`, {
    retry: "later",
    hint: `Look who that is and end it by hand: ps -fp ${pids.replaceAll(" ", "")}`,
  });
}
