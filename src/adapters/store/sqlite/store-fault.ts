import { Fault } from "../../../fault.ts";
import { storeClosed } from "../faults.ts";

const restore = "Restore the last backup: signalbox doctor --fix names it.";

/** What SQLite's result codes mean to us. The low byte is the kind; the rest says more than anybody needs. */
const kinds: Readonly<Record<number, { code: string; retry: "later" | "never"; hint: string }>> = {
  5: { code: "store.busy", retry: "later", hint: "Another process holds the database. Try again." },
  8: { code: "store.read-only", retry: "never", hint: "Make the home folder writable." },
  10: { code: "store.disk", retry: "later", hint: "The disk reported an error. Look at its health and its space." },
  11: { code: "store.corrupt", retry: "never", hint: restore },
  13: { code: "store.full", retry: "later", hint: "The disk is full. Make space; nothing was lost." },
  14: {
    code: "store.unreadable",
    retry: "never",
    hint: "Check that the home folder exists and may be read and written.",
  },
  26: { code: "store.corrupt", retry: "never", hint: restore },
};

/** Turns an error of SQLite into a fault; anything else stays as it is. */
export function toFault(error: unknown, path: string): unknown {
  if (error instanceof Fault || !(error instanceof Error)) return error;
  const { errcode, code, message } = error as Error & { errcode?: number; code?: string };
  // What a connection that is closed, and its statements, answer to everything.
  if (code === "ERR_INVALID_STATE") return storeClosed();
  const kind = errcode === undefined ? undefined : kinds[errcode & 0xff];
  if (kind === undefined) return error;
  return new Fault(kind.code, `The store ${path} failed: ${message}.`, {
    retry: kind.retry,
    hint: kind.hint,
    cause: error,
  });
}
