import { buildCommand, buildRouteMap } from "@stricli/core";
import { flag, json } from "./parameters.ts";
import { onlyProject as project } from "./task-parameters.ts";

const list = buildCommand({
  loader: async () => (await import("./commands/workspace/list.ts")).list,
  parameters: { flags: { project, json } },
  docs: {
    brief: "List the workspaces, what is in them and how much they take",
    fullDescription: `A workspace is clean, dirty (something in it is not committed), broken or missing. A free one waits for the next task of its project.

--json: { workspaces: [{ project, path, kind, task: { id, number, summary }, branch, state, reason, size, isCut }], size, trash: { folders, size } }. Sizes are in bytes
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
});

const gc = buildCommand({
  loader: async () => (await import("./commands/workspace/gc.ts")).gc,
  parameters: { flags: { project, "dry-run": flag("Only say what would be done"), yes: flag("Do not ask"), json } },
  docs: {
    brief: "Clean up workspaces, branches and trash that nobody needs",
    fullDescription: `Workspaces of tasks that are over are given back. Free ones that are broken, or more than the pool's size, go to the trash, once what is in them has been salvaged. Branches that were made for tasks that are over are deleted where the default branch has all of them; the others are listed, with how many commits are only there. What has been in the trash for longer than trash_days (30) is deleted, and the oldest of it where there is more than trash_limit (10GB). What was salvaged stays. It says first what it does; on a terminal you are asked, elsewhere --yes is needed.

--json: { done: [{ what, project, path, reason, freed }] }
Exit codes: 0 ok, 1 failed, or you said no, 2 wrong usage, 3 no such project`,
  },
});

export const workspaceCommands = buildRouteMap({
  routes: { list, gc },
  aliases: { ls: "list" },
  docs: { brief: "Look at the folders that agents work in, and clean them up" },
});
