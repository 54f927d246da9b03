import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** A snapshot of everything below a folder, to compare before and after. */
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
