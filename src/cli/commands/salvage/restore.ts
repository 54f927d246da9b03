import { routes } from "../../../api/routes.ts";
import { Fault } from "../../../fault.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { given } from "../../given.ts";
import { writeJson } from "../../write-json.ts";

export interface RestoreFlags {
  readonly to?: string;
  readonly branch?: string;
  readonly json: boolean;
}

export async function restore(this: Context, { to, branch, json }: RestoreFlags, ref: string) {
  if ((to === undefined) === (branch === undefined)) {
    throw new Fault("usage", "Say either where the files go, or what the branch is called.", {
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
    `The branch is made, and nothing is checked out. To see what was salvaged: git show --first-parent ${answer.branch}`,
  );
  this.print(String(answer.branch));
}
