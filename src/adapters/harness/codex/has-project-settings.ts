import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Whether the repository has settings for Codex: programs that it starts, and rules for what it runs outside of its
 * sandbox. They are obeyed from the folder upwards to where the repository begins, but only in a folder that is trusted.
 */
export function hasProjectSettings(folder: string, home: string): boolean {
  return foldersAbove(folder)
    .map((each) => join(each, ".codex"))
    .some((each) => each !== home && hasContent(each));
}

/** Its own sandbox leaves empty ones behind. */
function hasContent(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return existsSync(folder);
  }
}

function foldersAbove(folder: string): readonly string[] {
  const found: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    found.push(at);
    if (existsSync(join(at, ".git"))) return found;
    if (dirname(at) === at) return [folder];
  }
}
