import { Fault } from "../../../fault.ts";

type Method = (...args: never[]) => Promise<unknown>;

/** Whatever the system refuses becomes a Fault, for all methods alike. */
export function withFaults<T extends object>(kind: T): T {
  const guarded = Object.entries(kind).map(([name, value]) => [
    name,
    typeof value === "function" ? guard(value) : value,
  ]);
  return Object.fromEntries(guarded);
}

function guard(method: Method): Method {
  return async (...args) => {
    try {
      return await method(...args);
    } catch (error) {
      throw toFault(error);
    }
  };
}

/** What the system refuses for now, and may grant later. */
const passing = ["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "EAGAIN", "EBUSY", "ENOMEM", "ETIMEDOUT", "EIO"];

function toFault(error: unknown): unknown {
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof Fault || code === undefined || syscall === undefined) return error;
  return new Fault("workspace.unwritable", `${path ?? "A file"} cannot be used: ${syscall} failed with ${code}.`, {
    retry: passing.includes(code) ? "later" : "never",
    hint: "Look at the permissions of the folder, and at the free space.",
    cause: error,
  });
}
