import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { publishFile } from "../durable-file.ts";
import { Fault } from "../fault.ts";
import { makeFolder } from "./make-folder.ts";
import type { Places } from "./places.ts";

/** The person's token; creates it if there is none. Callers that create it at the same time all get the same token. */
export function ensureHumanToken(places: Pick<Places, "humanToken">): string {
  const file = places.humanToken;
  const found = readHumanToken(places);
  if (found !== undefined) return found;
  const token = `sbh_${randomBytes(24).toString("hex")}`;
  makeFolder(dirname(file), 0o700);
  try {
    publishFile(file, `${token}\n`, { mode: 0o600, replace: false });
    return token;
  } catch (error) {
    const other = error instanceof Fault && error.code === "exists" ? readHumanToken(places) : undefined;
    if (other === undefined) throw error;
    return other;
  }
}

/**
 * The token that proves that the caller is a person. Only creating a token needs `node:crypto`; the bundler leaves that
 * out of the program that agents call.
 */
export function readHumanToken({ humanToken: file }: Pick<Places, "humanToken">): string | undefined {
  const token = readPrivate(file);
  if (token === undefined || /^sbh_[0-9a-f]{48}$/.test(token)) return token;
  throw new Fault("invalid-token", `The file ${file} does not contain a token.`, {
    hint: `Remove the file; Signalbox creates a new one: rm "${file}"`,
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
      hint: "Check who owns the file.",
      cause: error,
    });
  }
  throw new Fault("exposed-token", `Other users can read ${file} and could act as you.`, {
    hint: `Restrict it: chmod 600 "${file}"\nIf others may have read it, remove it; Signalbox creates a new one.`,
  });
}
