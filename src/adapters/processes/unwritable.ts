import { Fault } from "../../fault.ts";

export function unwritable(folder: string, error: unknown): Fault {
  const { code } = error as NodeJS.ErrnoException;
  return new Fault("processes.unwritable", `What is to become of a run cannot be written to ${folder} (${code}).`, {
    retry: "later",
    hint: "Look at the folder's permissions and at the free space.",
    cause: error,
  });
}
