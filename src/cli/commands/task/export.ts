import { routes } from "../../../api/routes.ts";
import { createCall, fetchText } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { nameTask } from "../../name-task.ts";

export async function exportTask(this: Context, _flags: object, reference: string) {
  const text = await fetchText(this, routes.exportTask, await nameTask(createCall(this), reference));
  // A terminal must not obey what is in there; a file gets it as it is.
  if (this.isTerminal) this.print(text);
  else this.process.stdout.write(text);
}
