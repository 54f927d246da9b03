import { Fault } from "../../fault.ts";
import type { Config } from "../../home/config-fields.ts";
import type { Forge } from "../../ports/forge.ts";
import type { Git } from "../../ports/git.ts";
import type { Project } from "../../ports/store.ts";
import { remoteName, remoteOf } from "../remote-of.ts";

/** Where a project's branches are pushed, and where they become pull requests. */
export interface ProjectForge {
  /** none: pull requests are only written down here. */
  readonly kind: "github" | "none";
  readonly forge: Forge;
  /** The address of the remote; undefined where the project has none. */
  readonly remote: string | undefined;
}

export type ForgeOf = (project: Project) => Promise<ProjectForge>;

export interface ForgesPorts {
  readonly git: Pick<Git, "remoteUrl">;
  /** Read anew every time: the configuration may have changed. */
  choice(): Config["forge"];
  /** Undefined where the address leads to no GitHub that we are let into. */
  github(address: string): Promise<Forge | undefined>;
  none(project: Project): Forge;
}

/** Finds out which forge a project has. Its remote may have changed since the last time, so it is looked at anew. */
export function createForges({ git, choice, github, none }: ForgesPorts): ForgeOf {
  const local = new Map<string, Forge>();
  const noneOf = (project: Project) => {
    const forge = local.get(project.name) ?? none(project);
    // One for each project: it numbers what is asked for.
    local.set(project.name, forge);
    return forge;
  };
  return async (project) => {
    const remote = await remoteOf(git, project);
    const chosen = choice();
    const forge = chosen === "none" || remote === undefined ? undefined : await github(remote);
    if (forge !== undefined) return { kind: "github", forge, remote };
    if (chosen !== "github" || remote === undefined) return { kind: "none", forge: noneOf(project), remote };
    throw new Fault("forge.unavailable", `The remote "${remoteName}" of ${project.path} leads to no GitHub.`, {
      hint: "Log in with gh auth login, or name the token's variable: signalbox config set forge_token_env NAME",
    });
  };
}
