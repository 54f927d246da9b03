import { buildRouteMap } from "@stricli/core";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { confirm } from "../ask.ts";
import { createCall } from "../connect.ts";
import { offerSalvage } from "../offers.ts";
import { writeTable } from "../tables.ts";
import { count, given, repositories, writeJson, writeSize, writeTime } from "../text.ts";
import { command } from "./command.ts";
import { flag, json, onlyProject as project, textFlag } from "./parameters.ts";

const oneRef = {
  kind: "tuple",
  parameters: [
    {
      parse: String,
      proposeCompletions: offerSalvage,
      placeholder: "REF",
      brief: "The name that signalbox salvage list shows",
    },
  ],
} as const;

const drop = command({
  parameters: { positional: oneRef, flags: { yes: flag("Do not ask"), json } },
  docs: {
    brief: "Delete salvaged work",
    fullDescription: `Salvaged work is deleted only by this command. On a terminal you are asked first; elsewhere --yes is needed.

--json: { ref, commit }
Exit codes: 0 ok, 1 failed, or you said no, 2 wrong usage, 3 nothing is salvaged under REF`,
  },
  async func({ yes, json }, ref) {
    const call = createCall(this);
    const { salvaged } = await call(routes.listSalvage, { query: {} });
    const known = salvaged.find((each) => each.ref === ref || ref.endsWith(`/${each.ref}`));
    const what =
      known === undefined ? "" : ` of ${known.project}, ${count(known.files, "file")} of ${writeTime(known.at)}`;
    if (!(await confirm(this, `Delete the salvage ${ref}${what}? It cannot be restored.`, yes))) return;
    const answer = await call(routes.dropSalvage, { body: { ref } });
    if (json) return this.print(writeJson(answer));
    this.say(`${answer.ref} is deleted.`);
  },
});

const list = command({
  parameters: { flags: { project, json } },
  docs: {
    brief: "List salvaged work, the newest first",
    fullDescription: `Uncommitted work in a workspace is salvaged before another task gets the folder, or before it is removed. FILES counts changed and new files, ON is the commit that was checked out. Nested repositories (submodules and others) are salvaged too if they have uncommitted files, or commits that none of their remotes has; they are named below the table. A REF begins with the task's id, or with "free" if no task had the workspace.

--json: { salvaged: [{ ref, project, task, at, files, size, on, repositories, commit }], unreadable: [{ project, problem }] }
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
  async func({ project, json }) {
    const answer = await createCall(this)(routes.listSalvage, { query: given({ project }) });
    if (json) return this.print(writeJson(answer));
    const { salvaged, unreadable } = answer;
    for (const { project: of, problem } of unreadable) this.say(`The salvage of ${of} cannot be read: ${problem}`);
    if (salvaged.length === 0) return unreadable.length === 0 ? this.say("Nothing is salvaged.") : undefined;
    const columns = [
      { title: "REF", paint: this.paint.bold },
      { title: "PROJECT" },
      { title: "WHEN" },
      { title: "FILES", align: "right" },
      { title: "SIZE", align: "right" },
      { title: "ON" },
    ] as const;
    const rows = salvaged.map(({ ref, project: of, at, files, size, on, problem }) =>
      problem === ""
        ? [ref, of, writeTime(at), String(files), writeSize(size), on || "–"]
        : [ref, of, "–", "–", "–", "cannot be read"],
    );
    this.print(writeTable(columns, rows, this.tableWidth));
    for (const { ref, problem } of salvaged) if (problem !== "") this.say(`${ref} cannot be read: ${problem}`);
    for (const { ref, repositories: inside } of salvaged)
      if (inside.length > 0)
        this.say(`${ref} has ${repositories(inside)}, with commits or files that exist nowhere else.`);
    this.say("\nTo restore one: signalbox salvage restore REF --to FOLDER");
  },
});

const restore = command({
  parameters: {
    positional: oneRef,
    flags: {
      to: textFlag("FOLDER", "Write the files into this folder, which must not exist yet"),
      branch: textFlag("NAME", "Create this branch in your repository; it must not exist yet"),
      json,
    },
  },
  docs: {
    brief: "Restore salvaged work",
    fullDescription: `Nothing is overwritten, and the salvage is kept. With --to, nested repositories are restored as repositories, on their branches.

Examples:
  signalbox salvage restore k2m4p/2026-03-01T14-05-09-000Z --to ~/found
  signalbox salvage restore k2m4p/2026-03-01T14-05-09-000Z --branch found

--json: { ref, folder, branch, commit }
Exit codes: 0 ok, 1 the folder or the branch already exists, or it failed, 2 wrong usage, 3 nothing is salvaged under REF`,
  },
  async func({ to, branch, json }, ref) {
    if ((to === undefined) === (branch === undefined)) {
      throw new Fault("usage", "Give either a folder for the files, or the name of a branch.", {
        hint: `Into a new folder: signalbox salvage restore ${ref} --to FOLDER\nAs a branch: signalbox salvage restore ${ref} --branch NAME`,
      });
    }
    const answer = await createCall(this)(routes.restoreSalvage, { body: { ref, ...given({ folder: to, branch }) } });
    if (json) return this.print(writeJson(answer));
    if (answer.folder !== null) {
      this.say("The files are in:");
      return this.print(answer.folder);
    }
    this.say(
      `The branch is created, but not checked out. To see the salvaged work: git show --first-parent ${answer.branch}`,
    );
    this.print(String(answer.branch));
  },
});

export const salvageCommands = buildRouteMap({
  routes: { list, restore, drop },
  aliases: { ls: "list", rm: "drop" },
  docs: { brief: "Restore what agents left uncommitted" },
});
