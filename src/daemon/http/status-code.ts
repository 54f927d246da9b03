import type { Fault } from "../../fault.ts";

/** The HTTP status of a fault: by its code, else by the last word of its code. */
export function statusCodeOf({ code, retry }: Fault): number {
  const known = codes[code] ?? codes[code.slice(code.lastIndexOf(".") + 1)];
  return known ?? (retry === "later" ? 503 : 500);
}

const codes: Readonly<Record<string, number>> = {
  refused: 409,
  missing: 404,
  "not-found": 404,
  exists: 409,
  conflict: 409,
  "in-use": 409,
  dirty: 409,
  detached: 409,
  "in-the-way": 409,
  "branch-elsewhere": 409,
  invalid: 400,
  untrusted: 403,
  changed: 409,
  "remote-refused": 502,
  ambiguous: 409,
  usage: 400,
  over: 409,
  "no-window": 409,
  "agents.unavailable": 503,
  "ticket.broken": 409,
  "ticket.folder": 409,
  "ticket.link": 409,
  "ticket.unavailable": 503,
  "harness.unknown": 404,
  "request.host": 403,
  "request.origin": 403,
  "request.type": 415,
  "request.large": 413,
  "request.body": 400,
  "request.method": 405,
  "request.path": 404,
  "caller.unknown": 401,
  "caller.denied": 403,
  "daemon.older": 426,
};
