import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Everything below a folder, so that two looks tell whether anything was changed there. */
export function lookAt(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(folder)
      .sort()
      .flatMap((name): [string, string][] => {
        const path = join(folder, name);
        const found = lstatSync(path);
        if (found.isDirectory()) return [[path, "folder"], ...Object.entries(lookAt(path))];
        const content = found.isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
        return [[path, createHash("sha1").update(content).digest("hex")]];
      }),
  );
}
