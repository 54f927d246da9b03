import { Fault } from "../../../fault.ts";

// Tmux runs what it finds between "#(" and ")" in a session's name, and takes parts of names for the whole:
// only ids go into names, and names are matched exactly.
const idForm = /^[a-z0-9-]+$/;
const mostIdLength = 200;
const windowPrefix = "run-";

export function checkId(id: string): string {
  if (idForm.test(id) && id.length <= mostIdLength) return id;
  throw new Fault("terminal.id", `${JSON.stringify(id.slice(0, 100))} is no id of a run or a session.`, {
    hint: `Use small letters, digits and hyphens, at most ${mostIdLength} of them.`,
  });
}

/** The name of a run's window. The prefix keeps a number from being taken for the place of a window. */
export function windowName(run: string): string {
  return `${windowPrefix}${checkId(run)}`;
}

/** Undefined where it is no window of ours. */
export function runOf(window: string): string | undefined {
  const run = window.startsWith(windowPrefix) ? window.slice(windowPrefix.length) : "";
  return idForm.test(run) ? run : undefined;
}

export function sessionTarget(session: string): string {
  return `=${checkId(session)}:`;
}

export function windowTarget(session: string, run: string): string {
  return `${sessionTarget(session)}=${windowName(run)}`;
}
