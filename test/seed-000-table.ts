import { readFileSync } from "node:fs";

export interface Row {
  readonly pair: string;
  readonly gate: string;
  readonly effects: readonly string[];
}

/** The transition table of seed 000. */
export function rows(): readonly Row[] {
  const table =
    readFileSync(new URL("fixtures/seed-000.md", import.meta.url), "utf8")
      .split("| From | To | Gate | Hooks |")[1]
      ?.split("\n\n")[0] ?? "";
  return table
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("|--"))
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map(([, from = "", to = "", gate = "", hooks = ""]) => ({
      pair: `${from} → ${to}`,
      gate: gate === "—" ? "" : gate,
      effects: hooks === "—" ? [] : hooks.split(",").map((hook) => hook.trim()),
    }));
}

/** Deliberate differences to the seed's table. */
export const decided: Readonly<Record<string, { readonly more: readonly string[] }>> = {
  // The crash limit is a way of its own, also from planning; on entering stuck a live worker is told the prompt.
  "working → stuck": { more: ["notify_worker"] },
  "agent-review → stuck": { more: ["notify_worker"] },
  // A person's request for changes opens new rounds.
  "reviewing → working": { more: ["set_field review_round"] },
  // In pending no run is alive and no workspace is bound, so cleaning up is a no-op.
  "pending → cancelled": { more: ["kill_session", "release_workspace"] },
};
