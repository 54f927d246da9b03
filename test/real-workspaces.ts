import { createGit } from "../src/adapters/git/git.ts";
import { createRunner } from "../src/adapters/git/runner.ts";
import { createKinds } from "../src/adapters/git/workspace/kinds.ts";
import { createWorkspaces, type WorkspacesOf } from "../src/daemon/workspaces/project-workspaces.ts";
import type { Places } from "../src/home/places.ts";
import type { Git } from "../src/ports/git.ts";

/** Workspaces as the daemon has them, with real git. */
export function realWorkspaces(
  places: Places,
  env: Readonly<Record<string, string | undefined>> = plainEnvironment(),
): { readonly git: Git; readonly workspacesOf: WorkspacesOf } {
  const git = createGit({ env });
  const run = createRunner({ env, signal: undefined, program: "git", limits: { short: 60_000, long: 60_000 } });
  const kindOf = createKinds({ run, env, places, identityOf: git.identityOf });
  return { git, workspacesOf: createWorkspaces({ git, places, kindOf }) };
}

function plainEnvironment() {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME };
}
