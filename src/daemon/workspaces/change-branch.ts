import { Fault } from "../../fault.ts";
import type { Project } from "../../ports/store.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";

/** A branch that is there is checked out; otherwise the one that is checked out gets the name. */
export async function changeBranch(
  { control, kind }: ProjectWorkspaces,
  project: Project,
  folder: string,
  branch: string,
): Promise<void> {
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  if (branches[branch] !== undefined) return kind.switchBranch(folder, branch);
  try {
    await kind.renameBranch(folder, branch);
  } catch (error) {
    // It is there, but only in this workspace.
    if (!(error instanceof Fault) || error.code !== "workspace.branch-taken") throw error;
    await kind.switchBranch(folder, branch);
  }
}
