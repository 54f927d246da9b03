import { buildCommand, buildRouteMap } from "@stricli/core";
import { offerSalvage } from "./offers.ts";
import { flag, json, textFlag } from "./parameters.ts";
import { onlyProject as project } from "./task-parameters.ts";

const oneRef = {
  kind: "tuple",
  parameters: [
    {
      parse: String,
      proposeCompletions: offerSalvage,
      placeholder: "REF",
      brief: "As signalbox salvage list shows it",
    },
  ],
} as const;

const list = buildCommand({
  loader: async () => (await import("./commands/salvage/list.ts")).list,
  parameters: { flags: { project, json } },
  docs: {
    brief: "List what was salvaged, the newest first",
    fullDescription: `What is uncommitted in a workspace is salvaged before another task gets the folder, or before it is removed. FILES are those that were changed or new, ON is the commit that was checked out. Repositories inside of it (submodules, and others) are salvaged with it where they have commits that no remote of theirs has, or uncommitted files; they are named below the table. A REF begins with the task's id, or with "free" where no task had the workspace.

--json: { salvaged: [{ ref, project, task, at, files, size, on, repositories, commit }], unreadable: [{ project, problem }] }
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
});

const restore = buildCommand({
  loader: async () => (await import("./commands/salvage/restore.ts")).restore,
  parameters: {
    positional: oneRef,
    flags: {
      to: textFlag("FOLDER", "Write the files into this folder, which must not be there yet"),
      branch: textFlag("NAME", "Make this branch in your repository; it must not be there yet"),
      json,
    },
  },
  docs: {
    brief: "Bring back what was salvaged",
    fullDescription: `Nothing is ever overwritten, and what was salvaged stays. With --to, repositories that were inside are repositories again, on their branches.

Examples:
  signalbox salvage restore k2m4p/2026-03-01T14-05-09-000Z --to ~/found
  signalbox salvage restore k2m4p/2026-03-01T14-05-09-000Z --branch found

--json: { ref, folder, branch, commit }
Exit codes: 0 ok, 1 the folder or the branch is there already, or it failed, 2 wrong usage, 3 nothing is salvaged under REF`,
  },
});

const drop = buildCommand({
  loader: async () => (await import("./commands/salvage/drop.ts")).drop,
  parameters: { positional: oneRef, flags: { yes: flag("Do not ask"), json } },
  docs: {
    brief: "Forget something that was salvaged",
    fullDescription: `Nothing else ever deletes what was salvaged. On a terminal you are asked first; elsewhere --yes is needed.

--json: { ref, commit }
Exit codes: 0 ok, 1 failed, or you said no, 2 wrong usage, 3 nothing is salvaged under REF`,
  },
});

export const salvageCommands = buildRouteMap({
  routes: { list, restore, drop },
  aliases: { ls: "list", rm: "drop" },
  docs: { brief: "Get back what agents left uncommitted" },
});
