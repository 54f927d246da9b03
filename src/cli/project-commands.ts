import { buildCommand, buildRouteMap } from "@stricli/core";
import { offerProjects } from "./offers.ts";
import { flag, json, numberFlag, offerWorkflows, textFlag } from "./parameters.ts";

/** What can be recorded about a project. */
export const projectFlags = {
  workflow: { ...textFlag("W", "The workflow of new tasks, by its name"), proposeCompletions: offerWorkflows },
  harness: textFlag("H", "The harness that agents run in"),
  "review-harness": textFlag("H", "The harness of reviewers"),
  "pool-size": numberFlag("N", "How many workspaces it may have", 1, 1_000),
  "branch-prefix": textFlag("P", "What the branches of its tasks begin with"),
  "default-branch": textFlag("B", "The branch that work starts from; otherwise the one that is checked out"),
  workspaces: {
    kind: "enum",
    values: ["worktree", "clone"],
    optional: true,
    brief: "How workspaces are made: as worktrees of the repository, or as clones that share nothing with it",
  },
  "full-permissions": {
    kind: "enum",
    values: ["allow", "ask"],
    optional: true,
    brief: "Whether agents may work with full permissions: run, write and send as you, without asking",
  },
} as const;

export const allowFullPermissions = flag("Let agents of the project run, write and send as you, without asking");

const oneName = {
  kind: "tuple",
  parameters: [{ parse: String, proposeCompletions: offerProjects, placeholder: "NAME", brief: "A project's name" }],
} as const;

/** A project on the wire. */
export const projectForm =
  "{ name, path, defaultBranch, poolSize, workflow, harness, reviewHarness, branchPrefix, workspaces, fullPermissions, createdAt }";

const add = buildCommand({
  loader: async () => (await import("./commands/project/add.ts")).add,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: String,
          placeholder: "PATH|URL",
          brief: "A git repository, or a folder in one; or the address of a remote one, which is cloned",
        },
      ],
    },
    flags: { name: textFlag("NAME", "What it is called; otherwise as its folder"), ...projectFlags, json },
  },
  docs: {
    brief: "Register a repository as a project",
    fullDescription: `What is not said is as the repository's configuration or your own says. In the repository itself, signalbox init does the same. A repository that has an address (https://, ssh://, file:// or git@host:path) is cloned into repositories/ in your folder, with your own keys and passwords; if that is interrupted, do it again.

--json: ${projectForm}
Exit codes: 0 ok, 1 it is a project already, the name is taken, or it cannot be cloned, 2 wrong usage, 3 no such folder or workflow, or no git repository`,
  },
});

const list = buildCommand({
  loader: async () => (await import("./commands/project/list.ts")).list,
  parameters: { flags: { json } },
  docs: {
    brief: "List the projects",
    fullDescription: `--json: { projects: [${projectForm}] }
Exit codes: 0 ok, 1 failed, 2 wrong usage`,
  },
});

const update = buildCommand({
  loader: async () => (await import("./commands/project/update.ts")).update,
  parameters: {
    positional: oneName,
    flags: { ...projectFlags, path: textFlag("PATH", "Where the repository is now"), json },
  },
  docs: {
    brief: "Change what is recorded about a project",
    fullDescription: `Tasks that exist stay as they are. An empty value ("") lets the configuration decide again.

--json: ${projectForm}
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project or workflow`,
  },
});

const remove = buildCommand({
  loader: async () => (await import("./commands/project/remove.ts")).remove,
  parameters: { positional: oneName, flags: { yes: flag("Do not ask") } },
  docs: {
    brief: "Forget a project and its tasks that are over",
    fullDescription: `The repository stays as it is, also one that was cloned. Its workspaces go to the trash, once what is in them has been saved, and all work of its tasks stays where it is said. A project with open tasks is not forgotten. On a terminal you are asked first; elsewhere --yes is needed.

Exit codes: 0 ok, 1 it has open tasks, or you said no, 2 wrong usage, 3 no such project`,
  },
});

const trust = buildCommand({
  loader: async () => (await import("./commands/project/trust.ts")).trust,
  parameters: { positional: oneName, flags: { yes: flag("Do not ask"), json } },
  docs: {
    brief: "Say that what git obeys in a repository is all right, after it has changed",
    fullDescription: `Agents in worktrees can write to the repository's .git. So nothing is done there any more when its configuration, its hooks or its attributes have changed, until you have looked: whoever runs git config or installs hooks is asked too. Shows what has changed since you last looked. Tasks that are held because of it go on. On a terminal you are asked first; elsewhere --yes is needed.

--json: { fingerprint, changes: [{ name, change }] }
Exit codes: 0 ok, 1 it has changed again meanwhile, or you said no, 2 wrong usage, 3 no such project`,
  },
});

export const projectCommands = buildRouteMap({
  routes: { add, list, update, trust, remove },
  aliases: { ls: "list", new: "add", rm: "remove" },
  docs: { brief: "Register repositories, and say how work is done in them" },
});
