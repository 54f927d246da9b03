import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Makes a file `deep.txt` whose path is longer than the 4,096 bytes that a system call takes. Returns the first folder. */
export function makeDeep(folder: string): string {
  const name = "d".repeat(200);
  const below = (top: string, count: number) => join(top, ...Array(count).fill(name));
  const [upper, lower] = [below(folder, 13), below(join(folder, "lower"), 12)];
  mkdirSync(upper, { recursive: true });
  mkdirSync(lower, { recursive: true });
  writeFileSync(join(lower, "deep.txt"), "deep\n");
  renameSync(join(folder, "lower"), join(upper, "lower"));
  return name;
}
