import type { Call } from "../api/client.ts";
import { Fault } from "../fault.ts";
import { findProject } from "./find-project.ts";

/** Whom `pause` and `resume` mean: a project, or everything. */
export async function whosePause(
  call: Call,
  { project, all }: { readonly project?: string; readonly all: boolean },
): Promise<{ readonly project?: string; readonly all?: boolean }> {
  if (all && project !== undefined)
    throw new Fault("usage", "--project and --all cannot both be given.", { hint: "Leave one of them out." });
  return all ? { all } : { project: (await findProject(call, project)).name };
}
