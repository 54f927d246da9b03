import { routes } from "../../../api/routes.ts";
import { confirm } from "../../confirm.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { writeJson } from "../../write-json.ts";
import { writeTime } from "../../write-time.ts";

export interface DropFlags {
  readonly yes: boolean;
  readonly json: boolean;
}

export async function drop(this: Context, { yes, json }: DropFlags, ref: string) {
  const call = createCall(this);
  const { salvaged } = await call(routes.listSalvage, { query: {} });
  const known = salvaged.find((each) => each.ref === ref || ref.endsWith(`/${each.ref}`));
  const what =
    known === undefined ? "" : ` of ${known.project}, ${count(known.files, "file")} of ${writeTime(known.at)}`;
  if (!(await confirm(this, `Forget what was salvaged as ${ref}${what}? It cannot be brought back.`, yes))) return;
  const answer = await call(routes.dropSalvage, { body: { ref } });
  if (json) return this.print(writeJson(answer));
  this.say(`${answer.ref} is dropped.`);
}
