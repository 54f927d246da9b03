import type { PermissionsView } from "../api/project-routes.ts";
import { askYes } from "./ask.ts";
import type { Context } from "./context.ts";
import { listed } from "./count.ts";
import { wrap } from "./wrap.ts";

/** Whether a person still has to allow full permissions before agents are started. */
export function mustAllow({ allowed, needed }: PermissionsView): boolean {
  return !allowed && needed.length > 0;
}

/** Explains what full permissions mean, and asks for them; undefined where nobody answers. */
export async function askPermissions(
  context: Context,
  project: string,
  permissions: PermissionsView,
): Promise<boolean | undefined> {
  const { bold } = context.talkPaint;
  const point = (text: string) => `  - ${wrap(text, context.columns - 4, "    ")}`;
  context.say(
    [
      bold(wrap(`Agents of ${project} work with full permissions in ${shownHarnesses(permissions)}.`, context.columns)),
      ...explanation(project, permissions).map(point),
    ].join("\n"),
  );
  return askYes("Allow that, for this project?", false);
}

/** What the answer means, in sentences. */
function explanation(project: string, { workspaces }: PermissionsView): readonly string[] {
  const folders =
    workspaces === "clone"
      ? "Their folders are clones, which share nothing with your repository."
      : `Their folders are worktrees, which share .git with your repository; what they change there is noticed. Clones share nothing: signalbox project update ${project} --workspaces clone`;
  return [
    "They run commands, write files and use the network as you, without asking you first.",
    "Each task has a folder and a branch of its own, and nothing is merged before its workflow lets it.",
    "A folder is no wall: what you can read, change or send from this machine, they can too.",
    folders,
    `You are asked once. To take it back: signalbox project update ${project} --full-permissions ask`,
  ];
}

function shownHarnesses({ needed }: PermissionsView): string {
  return listed(needed.map(({ title, roles }) => `${title} (${listed(roles)})`));
}
