import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../../src/engine/simulate/live.ts";
import { type Behaviour, behaviours } from "./crew-script.ts";

const types = ["task", "bug", "feature", "chore"];
const created = "2026-01-25T19:11:47Z";

export interface WrittenTickets {
  /** Tickets that agents can close. */
  readonly closable: readonly string[];
  /** A ticket that no agent can finish, and one that depends on it. */
  readonly hopeless: readonly string[];
}

/** Writes this many closable tickets, as `tk create` does, with random dependencies and priorities. */
export function writeTickets(repository: string, count: number, random: Random, hopeless: boolean): WrittenTickets {
  const draw = (below: number) => Math.floor(random.next() * below);
  const folder = join(repository, ".tickets");
  mkdirSync(folder, { recursive: true });
  const closable: string[] = [];
  const stay: string[] = [];
  const write = (number: number, behaviour: Behaviour, deps: readonly string[]): string => {
    const id = `cof-${letters(number)}${letters(draw(36 * 36))}`;
    const fields = [
      ...[`id: ${id}`, "status: open", `deps: [${deps.join(", ")}]`, "links: []", `created: ${created}`],
      ...[`type: ${types[draw(types.length)]}`, `priority: ${draw(5)}`, "assignee: Ada Lovelace"],
      ...(number % 7 === 0 ? [`external-ref: gh-${number}`] : []),
    ];
    const text = [`# ${behaviour} cup ${number}`, "More beans, less water.", "## Acceptance Criteria", "It is hot."];
    writeFileSync(join(folder, `${id}.md`), `---\n${fields.join("\n")}\n---\n${text.join("\n\n")}\n`);
    return id;
  };
  // It needs three rounds of a minute each before it asks for a person, so it comes first.
  if (hopeless) stay.push(write(0, "Nothing", []));
  for (let number = 1; number <= count; number++) {
    const before = [draw(6), draw(12)].slice(0, draw(3)).flatMap((back) => closable.at(-2 - back) ?? []);
    closable.push(write(number, behaviours[draw(behaviours.length)] ?? "Add", [...new Set(before)]));
  }
  if (hopeless) stay.push(write(count + 1, "Add", stay));
  return { closable, hopeless: stay };
}

function letters(number: number): string {
  return number.toString(36).padStart(2, "0");
}
