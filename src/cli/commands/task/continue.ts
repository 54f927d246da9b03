import { routes } from "../../../api/routes.ts";
import { askChange } from "../../ask-change.ts";
import type { Context } from "../../context.ts";

export function continueTask(this: Context, { json }: { json: boolean }, ...references: readonly string[]) {
  return askChange(this, routes.continueTask, references, json);
}
