import { contains } from "../home/agents-at-work.ts";
import { homePlaces } from "../home/places.ts";
import { canAsk } from "./ask.ts";

/** Whether a person called us, who can be asked something. Whoever reads the output of a program is none, nor is an agent. */
export function isPersonThere({ stdout, env, cwd }: NodeJS.Process, home: string): boolean {
  if (stdout.isTTY !== true || !canAsk()) return false;
  if (env.SIGNALBOX_TOKEN !== undefined || env.SIGNALBOX_RUN !== undefined) return false;
  try {
    return !contains(homePlaces(home).workspaces, cwd());
  } catch {
    // The folder is gone.
    return false;
  }
}
