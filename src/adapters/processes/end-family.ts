import { Fault } from "../../fault.ts";
import type { ProcessIdentity, ProcessTable } from "../../ports/processes.ts";
import { isSandbox } from "./process-table.ts";

interface Family {
  /** The program; undefined if its identity is unknown. */
  readonly head: ProcessIdentity | undefined;
  /** The marks in their environment, as `NAME=value`. Without one, only descendants, group and session count. */
  readonly entries?: readonly string[];
  /**
   * Set only if no other program can have reused the head's pid: then the pid still names the group of a dead head.
   */
  readonly keepsGroup?: boolean;
}

const pace = 20;
/** Milliseconds that programs in a sandbox have to end, before the sandbox is killed with everything in it. */
const sandboxGrace = 1_000;
/** Milliseconds after which `endFamily` gives up on a killed process that still lives: it hangs in the kernel. */
const defaultKillTimeout = 10_000;

/**
 * Ends a program with all its descendants, its group, its session and the bearers of its marks: with SIGTERM, and after
 * the grace with SIGKILL. Resolves when all are dead, with the last signal that was needed; empty if none was alive.
 */
export async function endFamily(
  table: ProcessTable,
  family: Family,
  grace: number,
  killTimeout = defaultKillTimeout,
): Promise<"" | "SIGTERM" | "SIGKILL"> {
  // Remembers every process once seen: after a parent's death its children can no longer be traced to it.
  const known = new Map<string, ProcessIdentity>();
  const told = new Set<string>();
  let last: "" | "SIGTERM" | "SIGKILL" = "";
  const began = performance.now();
  let deadline = began + grace;
  for (;;) {
    await seek(table, family, known);
    if (known.size === 0) return last;
    const sandboxes = new Set([...known.values()].filter(({ pid }) => isSandbox(pid)).map(keyOf));
    // What is inside cannot outlive its sandbox, so it need not be looked for, and gets less time.
    if (sandboxes.size > 0) deadline = Math.min(deadline, began + sandboxGrace);
    if (performance.now() >= deadline + killTimeout) throw undying([...known.values()]);
    const signal = performance.now() >= deadline ? "SIGKILL" : "SIGTERM";
    for (const [key, identity] of known) {
      // Each process gets SIGTERM once: a second one makes some programs abort their clean-up.
      if (signal === "SIGTERM" && (told.has(key) || sandboxes.has(key))) continue;
      told.add(key);
      if (await table.isAlive(identity)) tell(identity.pid, signal);
    }
    last = signal;
    await rest(table, known, signal === "SIGKILL" ? performance.now() + 500 : deadline);
  }
}

/** Updates the known processes: adds new ones and removes dead ones. */
async function seek(table: ProcessTable, family: Family, known: Map<string, ProcessIdentity>): Promise<void> {
  const { head, entries = [], keepsGroup = false } = family;
  const heads = [...known.values(), ...(head === undefined ? [] : [head])];
  const bearers = entries.map((entry) => table.bearersOf(entry));
  const families = heads.map(async (each) => {
    // Another process may have the pid by now, with its own family.
    const isTheirs = (await table.isAlive(each)) || (each === head && keepsGroup && !(await table.identify(each.pid)));
    if (isTheirs) return table.familyOf(each.pid);
    known.delete(keyOf(each));
    return [];
  });
  for (const found of await Promise.all([...bearers, ...families])) for (const identity of found) add(known, identity);
}

/** Waits until all are dead, or until the deadline. */
async function rest(table: ProcessTable, known: ReadonlyMap<string, ProcessIdentity>, until: number): Promise<void> {
  while (performance.now() < until) {
    const living = await Promise.all([...known.values()].map((each) => table.isAlive(each)));
    if (!living.includes(true)) return;
    await sleep(Math.min(pace, Math.max(1, until - performance.now())));
  }
}

function add(known: Map<string, ProcessIdentity>, identity: ProcessIdentity): void {
  // A daemon that was started by an agent must not end itself.
  if (identity.pid !== process.pid) known.set(keyOf(identity), identity);
}

function keyOf({ pid, start }: ProcessIdentity): string {
  return `${pid} ${start}`;
}

function tell(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
    // A stopped process handles SIGTERM only after it continues.
    if (signal === "SIGTERM") process.kill(pid, "SIGCONT");
  } catch {
    // It has ended by itself, or belongs to another user.
  }
}

function undying(identities: readonly ProcessIdentity[]): Fault {
  const pids = identities.map(({ pid }) => pid).join(", ");
  return new Fault("processes.undying", `Some processes that a run started cannot be ended: ${pids} still running.`, {
    retry: "later",
    hint: `See what they are, and end them by hand: ps -fp ${pids.replaceAll(" ", "")}`,
  });
}

/** Without importing node:timers/promises: there are many supervisors, and each should be small. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
