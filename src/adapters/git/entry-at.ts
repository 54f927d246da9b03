import { lstatSync, type Stats, statSync } from "node:fs";

/** What is at a path; undefined where nothing is, or where we may not look. */
export function entryAt(path: string | Buffer): Stats | undefined {
  return quietly(() => lstatSync(path));
}

/** The same for what a link leads to. */
export function targetAt(path: string): Stats | undefined {
  return quietly(() => statSync(path));
}

function quietly(look: () => Stats): Stats | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
