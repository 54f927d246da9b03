import { routes } from "../../../api/routes.ts";
import { confirm } from "../../confirm.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { visible } from "../../visible.ts";
import { writeJson } from "../../write-json.ts";

export interface TrustFlags {
  readonly yes: boolean;
  readonly json: boolean;
}

export async function trust(this: Context, { yes, json }: TrustFlags, name: string) {
  const call = createCall(this);
  const params = { project: name };
  const { fingerprint, changes } = await call(routes.projectChanges, { params });
  if (!json) for (const each of changes) this.print(`${each.change.padEnd(8)} ${visible(each.name)}`);
  if (changes.length === 0) {
    if (!json) this.say("Nothing has changed since you last looked.");
  } else if (!(await confirm(this, `Is that all right in the repository of "${name}"?`, yes))) return;
  const answer = await call(routes.trustProject, { params, body: { fingerprint } });
  if (json) return this.print(writeJson(answer));
  if (changes.length > 0) this.say("Trusted as it is now. Tasks that were held because of it go on.");
}
