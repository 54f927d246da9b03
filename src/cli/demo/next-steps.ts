import type { Context } from "../context.ts";
import { ownCommand } from "../own-command.ts";
import { shellWord } from "../shell-word.ts";
import type { Stage } from "./stage.ts";

/** What to do now: with what was kept, or in a repository of one's own. */
export function nextSteps(context: Context, kept: Stage | undefined): string {
  const own = ownCommand(context.process.env?.PATH);
  return [...(kept === undefined ? [] : lookAround(kept, own)), ...tryNext(own, kept === undefined)].join("\n");
}

function lookAround({ folder, home, repository }: Stage, own: string): readonly string[] {
  const command = `SIGNALBOX_HOME=${shellWord(home)} ${own}`;
  return [
    "Everything is kept. Look around:",
    `  git -C ${shellWord(repository)} log --graph --oneline`,
    `  ${command} task list --all --closed`,
    `  ${command} task history coffee#2`,
    `  ${command} usage --by run`,
    "Remove it, with the daemon that these commands have started:",
    `  ${command} down; rm -r ${shellWord(folder)}`,
    "",
  ];
}

function tryNext(own: string, hasNothing: boolean): readonly string[] {
  const steps: readonly (readonly [string, string])[] = [
    ...(hasNothing ? ([["demo --keep", "the same, to look around in"]] as const) : []),
    ["workflow graph default", "draw the workflow of these tasks"],
    ["rehearse", "prove all built-in workflows"],
    ["init", "make your repository a project"],
    ['task create "Brew stronger"', "give your agents something to do"],
  ];
  const width = Math.max(...steps.map(([command]) => command.length));
  return ["Try next:", ...steps.map(([command, what]) => `  ${own} ${command.padEnd(width)}  ${what}`)];
}
