import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskEvent } from "../../src/engine/decision.ts";

/** The labels of the hooks of each way and of each state's own work. */
const ways: Readonly<Record<string, readonly string[]>> = {
  "north-east": ["a"],
  "east-south": ["b", "c"],
  "south-west": [],
  "west-north": ["e"],
};
const work: Readonly<Record<string, readonly string[]>> = { west: ["d"] };

/** The state that a client asks for next. From `west` tasks continue by themselves. */
export const askedFrom: Readonly<Record<string, string>> = { north: "east", east: "south", south: "west" };

/** A cyclic workflow in which every hook writes the key of its effect to a file of the task. */
export function ringWorkflow(folder: string): Readonly<Record<string, string>> {
  const script = join(folder, "note.sh");
  writeFileSync(script, `echo "$2 $SIGNALBOX_EFFECT" >> "$1/lines-$SIGNALBOX_TASK"\n`);
  const actions = (labels: readonly string[]) =>
    JSON.stringify(labels.map((label) => ({ action: "run_command", command: ["sh", script, folder, label] })));
  const transitions = Object.entries(ways).map(([way, labels]) => {
    const [from, to] = way.split("-");
    return `  - { from: ${from}, to: ${to}, hooks: ${actions(labels)} }`;
  });
  return {
    ring: `name: ring
version: 1
states:
  north: { waits_for: human }
  east: { waits_for: human }
  south: { waits_for: human }
  west: { do: ${actions(work.west ?? [])}, next: north }
  over: { terminal: true }
transitions:
${transitions.join("\n")}
  - { from: any, to: over, by: human }
`,
  };
}

/** The labels of all effects in a task's history, in order. */
export function owedBy(events: readonly TaskEvent[]): readonly string[] {
  let status = "";
  return events.flatMap(({ type, data, set }) => {
    if (typeof set.status === "string") status = set.status;
    if (type === "task.moved") return ways[`${data.from}-${data.to}`] ?? [`no way from ${data.from} to ${data.to}`];
    return type === "task.working" ? (work[status] ?? []) : [];
  });
}

/** The lines that the hooks of a task have written. */
export function linesOf(folder: string, task: string): readonly string[] {
  try {
    return readFileSync(join(folder, `lines-${task}`), "utf8")
      .split("\n")
      .slice(0, -1);
  } catch {
    return [];
  }
}
