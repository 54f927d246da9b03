import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { readRepositoryConfig } from "../../home/repository-config.ts";
import { trust } from "../../home/trust.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { isoTime } from "../views.ts";
import { trustCommand } from "../workspaces/project-settings.ts";
import { continueHeld } from "./continue-held.ts";
import { mustHave } from "./projects.ts";

/** The commands that a repository's configuration names may run. Tasks that were held for want of it go on. */
export function trustConfig(core: Core): Handler<Routes["trustConfig"]> {
  return async ({ params }) => {
    const project = await mustHave(core, params.project ?? "");
    const found = readRepositoryConfig(core.home, project.path);
    if (found === undefined) {
      throw new Fault(
        "usage",
        `${project.path} has your own files in .signalbox, so it has no configuration of its own.`,
      );
    }
    const { file, hash, commands } = found;
    trust(core.places, hash, `${project.name} ${file} ${isoTime(core.clock.now())}`);
    core.log.info("A configuration was trusted", { file, hash });
    await continueHeld(core, project.name, trustCommand(project.name));
    return { hash, file, commands };
  };
}
