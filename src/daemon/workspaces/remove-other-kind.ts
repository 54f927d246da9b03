import type { Log } from "../../ports/log.ts";
import type { Project } from "../../ports/store.ts";
import type { BindPorts } from "./bind-workspace.ts";
import { kindNameOf, type ProjectWorkspaces } from "./project-workspaces.ts";

/**
 * Takes free workspaces away that are of another kind than the project makes now. What is in them is saved first. One that
 * cannot be taken away stays, and is tried again with the next task; nobody gets it.
 */
export async function removeOtherKind(
  { store, clock, inTurn, log }: BindPorts & { readonly log: Log },
  { control, kind }: ProjectWorkspaces,
  project: Project,
): Promise<void> {
  await inTurn(`pool ${project.name}`, async () => {
    for (const workspace of await store.workspaces.list({ project: project.name })) {
      const isOther = workspace.kind !== "folder" && workspace.kind !== kindNameOf(project);
      if (!isOther || workspace.task !== "") continue;
      const { id, path: folder } = workspace;
      try {
        const found = await kind.inspect(folder);
        const task = `free-${id.slice(id.lastIndexOf("/") + 1)}`;
        const salvage = found.kind === "there" ? await control.salvage({ folder, task, at: clock.now() }) : undefined;
        if (found.kind !== "missing") await kind.remove(folder, salvage);
        await store.workspaces.remove(id);
      } catch (error) {
        log.warn("A workspace of the other kind could not be removed", { folder, error });
      }
    }
  });
}
