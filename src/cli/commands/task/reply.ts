import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { nameTask } from "../../name-task.ts";
import { readInput } from "../../read-input.ts";
import { tellChange } from "../../tell-change.ts";
import { writeJson } from "../../write-json.ts";

export async function reply(this: Context, { json }: { json: boolean }, reference: string, words = "-") {
  const text = words === "-" ? await readInput(this, "-") : words;
  const call = createCall(this);
  const change = await call(routes.replyTask, { ...(await nameTask(call, reference)), body: { text } });
  if (json) return this.print(writeJson(change));
  tellChange(this, change);
}
