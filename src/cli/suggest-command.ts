import { nearest } from "../engine/language/nearest.ts";
import { listed } from "./count.ts";

/** What other programs call things, and what they are called here. */
const habits: ReadonlyMap<string, string> = new Map([
  ["version", "signalbox --version"],
  ["ls", "signalbox task list"],
  ["new", "signalbox task create"],
  ["start", "signalbox up"],
  ["stop", "signalbox down"],
  ["restart", "signalbox down && signalbox up"],
  ["workspace clean", "signalbox workspace gc"],
  ["workspace cleanup", "signalbox workspace gc"],
  ["workspace prune", "signalbox workspace gc"],
  ["config list", "signalbox config get"],
  ["config ls", "signalbox config get"],
  ["config show", "signalbox config get"],
  ["task stop", "signalbox task cancel"],
]);

/** Verbs that end something or take it away. Only somebody who has named their noun is offered them. */
const destructive: ReadonlySet<string> = new Set("cancel clean cleanup delete drop gc kill remove stop".split(" "));

/**
 * What to do about a command that is not there. `noun` is what was typed before it, empty where it came first. `near` are
 * the names in its place that are spelled a little like it, `all` every command as it is typed, such as "task merge".
 */
export function suggestCommand(input: string, noun: string, near: readonly string[], all: readonly string[]): string {
  const habit = habits.get(`${noun} ${input}`.trim());
  const others = elsewhere(input, noun, all).map((each) => `signalbox ${each}`);
  const known = habit === undefined ? others : noun === "" ? [habit, ...others] : [habit];
  const close = nearest(input, near) ?? near.find((each) => input.length > 2 && each.startsWith(input));
  const isOwn = noun !== "" && habit === undefined && close !== undefined;
  const meant = close !== undefined && (isOwn || known.length === 0) ? [close] : known;
  if (meant.length === 0) return `To see all commands: ${`signalbox ${noun}`.trimEnd()} --help`;
  const offers = meant.slice(0, 4).map((each) => `"${each}"`);
  return `Did you mean ${listed(offers, "or")}?`;
}

/** The same verb of other nouns. Without a noun, tasks are meant most often. */
function elsewhere(verb: string, noun: string, all: readonly string[]): readonly string[] {
  const isMeant = (command: string) => command.startsWith("task ");
  return all
    .filter((each) => each.endsWith(` ${verb}`))
    .filter((each) => !destructive.has(verb) || (noun === "" && isMeant(each)))
    .sort((a, b) => Number(isMeant(b)) - Number(isMeant(a)));
}
