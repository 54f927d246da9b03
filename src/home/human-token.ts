import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { Fault } from "../fault.ts";
import { makeFolder } from "./make-folder.ts";
import type { Places } from "./places.ts";
import { publishFile } from "./publish-file.ts";
import { readHumanToken } from "./read-human-token.ts";

/** What the user shows to be taken for a person. Of several who make one at once all get the same. */
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
