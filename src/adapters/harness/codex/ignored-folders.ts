import { join, sep } from "node:path";
import type { CodexPorts } from "./codex-ports.ts";

/** The repository was written by agents: nothing of its settings may make git run a program or fetch anything. */
const safely = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
const environment = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_TERMINAL_PROMPT: "0",
};
const list = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
const patience = 60_000;
/** Each is one more mount for every command. */
const most = 32;

/**
 * The folders that git ignores, where builds and tests put what they make; those nearest to the top. None where git
 * cannot tell.
 */
export async function ignoredFolders(folder: string, { commands, env }: CodexPorts): Promise<readonly string[]> {
  const argv = ["git", ...safely, ...list];
  const pieces: Uint8Array[] = [];
  const { code } = await commands
    .run({
      argv,
      cwd: folder,
      env: { ...env, ...environment },
      timeout: patience,
      onOutput: (chunk) => pieces.push(chunk),
    })
    .catch(() => ({ code: undefined }));
  if (code !== 0) return [];
  return Buffer.concat(pieces)
    .toString("utf8")
    .split("\0")
    .filter((path) => path.endsWith("/") && path !== "./")
    .map((path) => join(folder, path.slice(0, -1)))
    .toSorted((one, other) => depthOf(one) - depthOf(other))
    .slice(0, most);
}

function depthOf(path: string): number {
  return path.split(sep).length;
}
