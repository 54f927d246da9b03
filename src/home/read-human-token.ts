import { readFileSync, statSync } from "node:fs";
import { Fault } from "../fault.ts";
import type { Places } from "./places.ts";

/** The token that shows that a person asks. Apart from its making, because loading node:crypto takes agents 5 ms. */
export function readHumanToken({ humanToken: file }: Pick<Places, "humanToken">): string | undefined {
  const token = readPrivate(file);
  if (token === undefined || /^sbh_[0-9a-f]{48}$/.test(token)) return token;
  throw new Fault("invalid-token", `There is no token in ${file}.`, {
    hint: `Remove the file; a new one is made by itself: rm "${file}"`,
  });
}

function readPrivate(file: string): string | undefined {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if ((found.mode & 0o077) === 0) return readFileSync(file, "utf8").trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unreadable", `${file} cannot be read (${code}).`, {
      hint: "Look at who owns the file.",
      cause: error,
    });
  }
  throw new Fault("exposed-token", `Others can read ${file}, and so pass for you.`, {
    hint: `Close it: chmod 600 "${file}"\nIf they may have read it, remove it; a new one is made by itself.`,
  });
}
