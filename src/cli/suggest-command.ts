import { nearest } from "../engine/language/nearest.ts";
import { listed } from "./count.ts";

/** What other programs call things, and what they are called here. */
const habits: ReadonlyMap<string, string> = new Map([
  ["help", "signalbox --help"],
  ["version", "signalbox --version"],
  ["start", "signalbox up"],
  ["stop", "signalbox down"],
  ["restart", "signalbox down && signalbox up"],
]);

/**
 * What to do about a command that is not there. `near` are the names in its place that are spelled a little like it,
 * `all` every command as it is typed, such as "task merge".
 */
export function suggestCommand(input: string, near: readonly string[], all: readonly string[]): string {
  const habit = habits.get(input);
  const elsewhere = all.filter((each) => each.endsWith(` ${input}`)).sort((a, b) => rank(a) - rank(b));
  const known = [...(habit === undefined ? [] : [habit]), ...elsewhere.map((each) => `signalbox ${each}`)];
  const close = nearest(input, near);
  const meant = known.length > 0 || close === undefined ? known : [close];
  if (meant.length === 0) return "To see all commands: signalbox --help";
  return `Did you mean ${listed(
    meant.slice(0, 4).map((each) => `"${each}"`),
    "or",
  )}?`;
}

/** Most of what people do is done with tasks. */
function rank(command: string): number {
  return command.startsWith("task ") ? 0 : 1;
}
