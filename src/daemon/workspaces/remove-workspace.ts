import { Fault } from "../../fault.ts";
import type { Salvage } from "../../ports/control-repository.ts";
import type { Workspace } from "../../ports/records.ts";
import type { PoolPorts } from "./pool-ports.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";
import { nobody, saveWorkspace } from "./save-workspace.ts";

/**
 * Saves what is in a free workspace, moves its folder to the trash, and forgets it. False where a task got it in the
 * meantime. Refused, with everything as it was, where something in it cannot be saved.
 */
export function removeWorkspace(
  ports: Pick<PoolPorts, "store" | "clock" | "log" | "inTurn">,
  workspaces: ProjectWorkspaces,
  { id, project, path }: Workspace,
): Promise<boolean> {
  const { store, log, inTurn } = ports;
  return inTurn(`pool ${project}`, async () => {
    const now = await store.workspaces.get(id);
    if (now !== undefined && now.task !== "") return false;
    const salvage =
      (await saveWorkspace(ports, workspaces, path, nobody)) ?? (await saveBroken(ports, workspaces, path));
    await workspaces.kind.remove(path, salvage);
    await store.workspaces.remove(id);
    log.info("A workspace was moved to the trash", { project, path });
    return true;
  });
}

/** Of a workspace in which something is wrong, git may still read what is there. */
async function saveBroken(
  { clock }: Pick<PoolPorts, "clock">,
  { control, kind }: ProjectWorkspaces,
  folder: string,
): Promise<Salvage | undefined> {
  if ((await kind.inspect(folder)).kind === "missing") return undefined;
  try {
    return await control.salvage({ folder, task: nobody, at: clock.now(), anybodys: true });
  } catch (error) {
    if (error instanceof Fault && error.retry === "never") return undefined;
    throw error;
  }
}
