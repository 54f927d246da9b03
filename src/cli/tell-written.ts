import type { routes } from "../api/routes.ts";
import type { TypeOf } from "../api/wire.ts";
import type { Context } from "./context.ts";
import { listed } from "./count.ts";

/** Tells what of a task file was taken. */
export function tellWritten({ say }: Context, { changed, ignored }: TypeOf<typeof routes.putDocument.answer>): void {
  const named = (sections: readonly string[]) => listed(sections.map((section) => `"## ${section}"`));
  if (changed.length > 0) say(`Changed in the task file: ${named(changed)}.`);
  else say("No section of the task file has changed.");
  if (ignored.length > 0) say(`Not taken, because others own it: ${named(ignored)}.`);
}
