import { Fault } from "../../../fault.ts";
import { storeClosed } from "../faults.ts";

const restore = "The store is damaged. See what can be restored: signalbox restore --list";

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

/** What the system says about files, as SQLite would. */
const systemCodes: Readonly<Record<string, number>> = {
  EROFS: 8,
  EIO: 10,
  ENOSPC: 13,
  EDQUOT: 13,
  ENOENT: 14,
  ENOTDIR: 14,
  EACCES: 14,
  EPERM: 14,
};

/** Turns an error of SQLite into a fault; anything else stays as it is. */
export function toFault(error: unknown, path: string): unknown {
  if (error instanceof Fault || !(error instanceof Error)) return error;
  const { errcode, code, message } = error as Error & { errcode?: number; code?: string };
  // What a connection that is closed, and its statements, answer to everything.
  if (code === "ERR_INVALID_STATE") return storeClosed();
  const number = errcode === undefined ? systemCodes[code ?? ""] : errcode & 0xff;
  const kind = number === undefined ? undefined : kinds[number];
  if (kind === undefined) return error;
  return new Fault(kind.code, `The store ${path} failed: ${message}.`, {
    retry: kind.retry,
    hint: kind.hint,
    cause: error,
  });
}
