import { relative } from "node:path";

/** Relative to where the user is, unless that leads out of there, or is the root, where the daemon is. */
export function shownPath(file: string): string {
  const folder = currentFolder();
  const path = folder === undefined ? "" : relative(folder, file);
  return path === "" || path.startsWith("..") || `/${path}` === file ? file : path;
}

function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    // Somebody has removed it.
    return undefined;
  }
}
