import { allowCommand } from "../agents/check-permissions.ts";
import type { Core } from "../core.ts";
import { continueHeld } from "./continue-held.ts";

/** A person says whether agents of a project may have full permissions. Tasks that are held because of it go on. */
export async function setPermissions(core: Core, project: string, fullPermissions: "allow" | "ask"): Promise<void> {
  await core.store.updateProject(project, { fullPermissions });
  core.log.info("A person has said whether agents may have full permissions", { project, fullPermissions });
  if (fullPermissions === "allow") await continueHeld(core, project, allowCommand(project));
}
