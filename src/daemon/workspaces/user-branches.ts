import { Fault } from "../../fault.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Project } from "../../ports/store.ts";

/** The branches of the user's repository, with their commits. None where nobody has committed yet. */
export async function userBranches(
  control: ControlRepository,
  { path }: Pick<Project, "path">,
): Promise<Readonly<Record<string, string>>> {
  try {
    return (await control.syncFrom({ from: path, name: "user" })).branches;
  } catch (error) {
    if (error instanceof Fault && error.code === "git.no-commits") return {};
    throw error;
  }
}
