import type { Context } from "../../context.ts";
import { workspaceOf } from "../../workspace-of.ts";

export async function path(this: Context, _flags: object, reference: string) {
  const { folder } = await workspaceOf(this, reference);
  // Whatever it is called, a shell must get it whole.
  this.process.stdout.write(`${folder}\n`);
}
