import type { ProjectView } from "../../api/routes.ts";
import { shownPath } from "../../home/shown-path.ts";
import type { Context } from "../context.ts";

/** Where there is no repository: what to do, and which projects there are. */
export function showOutside({ say, talkPaint }: Context, projects: readonly ProjectView[]): void {
  const { bold, cyan } = talkPaint;
  say("This folder is in no git repository, and agents work in git repositories.");
  say(`Go to one of yours and call ${cyan("signalbox")} there, or make this folder one: ${cyan("git init")}`);
  if (projects.length > 0) {
    const width = Math.max(...projects.map(({ name }) => name.length));
    say("\nYour projects:");
    for (const { name, path } of projects) say(`  ${bold(name.padEnd(width))}  ${shownPath(path)}`);
    say(`\nWhat happens in all of them: ${cyan("signalbox status --watch")}`);
  }
  say(`All commands: ${cyan("signalbox --help")}`);
}
