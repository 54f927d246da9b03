import type { Context } from "./context.ts";

/** What the shell offers for names that only the daemon knows. Loaded when it is asked for: all other commands do without. */

export async function offerProjects(this: Context): Promise<readonly string[]> {
  return (await import("./offered-names.ts")).projectNames(this);
}

export async function offerTasks(this: Context): Promise<readonly string[]> {
  return (await import("./offered-names.ts")).taskNames(this);
}

export async function offerStates(this: Context): Promise<readonly string[]> {
  return (await import("./offered-names.ts")).stateNames(this);
}

export async function offerSalvage(this: Context): Promise<readonly string[]> {
  return (await import("./offered-names.ts")).salvageNames(this);
}

export async function offerHarnesses(this: Context): Promise<readonly string[]> {
  return (await import("./offered-names.ts")).harnessNames(this);
}

export async function offerRuns(this: Context): Promise<readonly string[]> {
  return (await import("./offered-names.ts")).runNames(this);
}
