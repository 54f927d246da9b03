import type { Fault } from "../../fault.ts";

/**
 * The HTTP status of a fault: by its code, else by the last word of its code. Other faults are foreseen answers to what was
 * asked, in the state that there is: 503 if the same request may succeed later, else 409.
 */
export function statusCodeOf({ code, retry }: Fault): number {
  const word = code.slice(code.lastIndexOf(".") + 1);
  const known = codes[code] ?? codes[word];
  if (known !== undefined) return known;
  if (retry === "later") return 503;
  if (failures.has(code) || failures.has(word)) return 500;
  return word.startsWith("bad-") ? 400 : 409;
}

/** Failures of the daemon or of the machine, independent of the request: codes, and last words of codes. */
const failures: ReadonlySet<string> = new Set([
  ...["error", "failed", "corrupt", "lost", "unreadable", "unwritable", "bad-copy", "bad-id", "not-started"],
  ...["silent", "timeout", "too-old", "undying", "unwatchable"],
  ...["store.closed", "store.disk", "store.empty", "store.full", "store.newer"],
]);

const codes: Readonly<Record<string, number>> = {
  refused: 409,
  missing: 404,
  "not-found": 404,
  exists: 409,
  conflict: 409,
  "in-use": 409,
  stale: 409,
  dirty: 409,
  detached: 409,
  "in-the-way": 409,
  "branch-elsewhere": 409,
  invalid: 400,
  untrusted: 403,
  changed: 409,
  "remote-refused": 502,
  unavailable: 503,
  "forge.unavailable": 409,
  "forge.garbled": 502,
  // The programs that the daemon needs, not what was asked for.
  "git.missing": 500,
  "terminal.missing": 500,
  ambiguous: 409,
  usage: 400,
  over: 409,
  "no-window": 409,
  "ticket.broken": 409,
  "ticket.folder": 409,
  "ticket.link": 409,
  "harness.unknown": 404,
  "request.host": 403,
  "request.origin": 403,
  "request.type": 415,
  "request.large": 413,
  "request.upgrade": 426,
  "request.body": 400,
  "request.method": 405,
  "request.path": 404,
  "caller.unknown": 401,
  "caller.denied": 403,
  "daemon.older": 426,
  "config.unknown": 409,
};
