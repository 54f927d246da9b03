import { routes } from "../../../api/routes.ts";
import { askChange } from "../../ask-change.ts";
import type { Context } from "../../context.ts";

export function spawn(this: Context, { json }: { json: boolean }, ...references: readonly string[]) {
  const hint = ({ task }: { readonly task: { readonly id: string } }) =>
    `To see its agent at work: signalbox task attach ${task.id}`;
  return askChange(this, routes.spawnTask, references, json, hint);
}
