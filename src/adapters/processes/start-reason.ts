import { statSync } from "node:fs";
import type { ProcessOrder } from "../../ports/processes.ts";

/** Why a program could not be started, for people. */
export function startReason({ argv, cwd }: Pick<ProcessOrder, "argv" | "cwd">, error: NodeJS.ErrnoException): string {
  const program = JSON.stringify((argv[0] ?? "").slice(0, 200));
  const folder = statSync(cwd, { throwIfNoEntry: false });
  const place = JSON.stringify(cwd.slice(0, 200));
  if (folder === undefined) return `${program} could not be started: there is no folder ${place}.`;
  if (!folder.isDirectory()) return `${program} could not be started: ${place} is not a folder.`;
  if (error.code === "ENOENT") return `${program} could not be started: there is no such program. Install it.`;
  if (error.code === "EACCES")
    return `${program} could not be started: it may not be run, or its folder ${place} may not be entered. Check both.`;
  if (error.code === "E2BIG")
    return `${program} could not be started: its arguments and its environment are too long. Shorten the prompt.`;
  return `${program} could not be started (${(error.code ?? error.message).slice(0, 200)}).`;
}
