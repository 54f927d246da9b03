import { Fault, tell } from "../../fault.ts";
import { sentence } from "../../text.ts";
import { raise } from "./heal-run.ts";
import type { Seen } from "./run-signs.ts";
import type { RunWatch } from "./watch-run.ts";

type RaisePorts = Parameters<typeof raise>[0];

const unforeseen = "An unforeseen error occurred while it was checked, so its work or its end is not noticed: ";
const unreadable = "Its events cannot be read, so its work is not noticed, and messages do not reach it: ";

/**
 * Checks a run. Events that cannot be read and errors that nobody has foreseen would hold up its task for ever without a word,
 * so they need a person until they are over.
 */
export async function checkRun(
  ports: RaisePorts,
  watch: RunWatch,
  seen: Seen,
  isWatched: () => boolean,
): Promise<void> {
  try {
    await watch.look(seen);
  } catch (error) {
    // Another reason that the check has found stays: two reasons would replace each other at every check.
    const mayRaise = isWatched() && (watch.started.raised === "" || isOurs(watch));
    if (!(error instanceof Fault) && mayRaise) await raise(ports, watch, `${unforeseen}${messageOf(error)}`);
    throw error;
  }
  // The check may have found that the run has ended: then its record is closed, and must stay closed.
  if (!isWatched()) return;
  const { started, trouble } = watch;
  if (trouble !== "" && (started.raised === "" || isOurs(watch))) await raise(ports, watch, `${unreadable}${trouble}`);
  else if (trouble === "" && isOurs(watch)) await watch.keep({ started: { ...started, raised: "" } });
}

function isOurs({ started: { raised } }: RunWatch): boolean {
  return raised.startsWith(unforeseen) || raised.startsWith(unreadable);
}

function messageOf(error: unknown): string {
  return sentence(error instanceof Error ? error.message : String(error));
}

/** Calls a person for a fault that does not pass by itself, such as a repository that needs to be checked first. */
export async function raiseFault(ports: RaisePorts, watch: RunWatch | undefined, error: unknown): Promise<void> {
  const isTheirs = error instanceof Fault && error.retry === "never" && error.code !== "task.missing";
  if (watch !== undefined && isTheirs) await raise(ports, watch, tell(error));
}
