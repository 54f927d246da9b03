import { routes } from "../../../api/routes.ts";
import { askChange } from "../../ask-change.ts";
import type { Context } from "../../context.ts";

export function cancel(this: Context, { json }: { json: boolean }, reference: string) {
  return askChange(this, routes.cancelTask, reference, json);
}
