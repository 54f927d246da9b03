import { join } from "node:path";
import { createGit } from "../src/adapters/git/create-git.ts";
import { createRunner } from "../src/adapters/git/git-runner.ts";
import { createClones, createWorktrees } from "../src/adapters/git/workspace/create-kind.ts";
import { createWorkspaces, type WorkspacesOf } from "../src/daemon/workspaces/project-workspaces.ts";
import type { Places } from "../src/home/places.ts";

/** Workspaces as the daemon has them: with the git of this machine. */
export function realWorkspaces(places: Places): WorkspacesOf {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME };
  const run = createRunner({ env, signal: undefined, program: "git", limits: { short: 60_000, long: 60_000 } });
  return createWorkspaces({
    git: createGit({ env }),
    places,
    kindOf: (project, control, name) =>
      (name === "clone" ? createClones : createWorktrees)({
        run,
        repository: project.path,
        control: control.folder,
        state: join(places.workspaces, `.${project.name}`),
        trash: join(places.trash, project.name),
      }),
  });
}
