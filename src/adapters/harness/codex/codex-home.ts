import { tmpdir } from "node:os";
import { isAbsolute, join, relative } from "node:path";

type Env = Readonly<Record<string, string>>;

/** Where Codex keeps its configuration and its sessions. */
export function codexHome(env: Env): string {
  return env.CODEX_HOME || join(env.HOME || "/", ".codex");
}

/**
 * Codex puts the programs of its sandbox into its home, but refuses to below the folder for temporary files; then no
 * command can be run. It must be told of another folder for them.
 */
export function isHomeTemporary(env: Env): boolean {
  const path = relative(env.TMPDIR || tmpdir(), codexHome(env));
  return !path.startsWith("..") && !isAbsolute(path);
}
