import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { canaries } from "./canaries.ts";
import type { Trap } from "./trap.ts";

/** Everything that can be written into a git folder to make git run something. */
export function plantAll(trap: Trap, chosen: (name: string) => boolean = () => true): void {
  for (const [name, canary] of Object.entries(canaries)) if (chosen(name)) canary.plant(trap, name);
}

/** Everything that an agent can commit to make git run something, or write outside. */
export function plantFiles({ at: workspace, program }: Trap): void {
  workspace.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
  workspace.write("--output=planted", "option\n");
  workspace.write("-evil", "option\n");
  workspace.write(`$(${program("shell").replaceAll("/", "_")})`, "shell\n");
  workspace.write("line\nend\u001b]0;title\u0007", "control\n");
  symlinkSync("/etc/passwd", join(workspace.folder, "link-to-file"));
  symlinkSync("/tmp", join(workspace.folder, "link-to-folder"));
}

export const hostileBranches = ["--output=planted", "-evil", "a;touch$(id)", "--upload-pack=touch", "HEAD", "@"];
