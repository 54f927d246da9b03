import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { graphOf } from "../../src/daemon/workflow-graph.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { layOut } from "../../src/web/graph/layout.ts";
import { root } from "../documents.ts";

const graphIn = (name: string) => {
  const { workflow } = loadWorkflow(readFileSync(join(root, "workflows", `${name}.yml`), "utf8"), `${name}.yml`);
  if (workflow === undefined) throw new Error(`${name} does not load`);
  return graphOf(workflow);
};

test.each(
  ["default", "classic", "pipeline", "team"].flatMap((name) => [[name, "across"] as const, [name, "down"] as const]),
)("no two states of %s overlap %s, and all are inside", (name, direction) => {
  const { states, width, height } = layOut(graphIn(name), direction);
  expect(states.length).toBeGreaterThan(4);
  for (const [i, a] of states.entries()) {
    expect(a.at.x - a.width / 2).toBeGreaterThanOrEqual(0);
    expect(a.at.x + a.width / 2).toBeLessThanOrEqual(width);
    expect(a.at.y + a.height / 2).toBeLessThanOrEqual(height);
    for (const b of states.slice(i + 1)) {
      const isApart =
        Math.abs(a.at.x - b.at.x) >= (a.width + b.width) / 2 || Math.abs(a.at.y - b.at.y) >= (a.height + b.height) / 2;
      expect(isApart, `${a.name} ${b.name}`).toBe(true);
    }
  }
});

test("ways that leave every state are named once and not drawn", () => {
  const placed = layOut(graphIn("default"), "across");
  expect(placed.everywhere.map(({ to }) => to)).toEqual(["cancelled"]);
  expect(placed.states.map(({ name }) => name)).not.toContain("cancelled");
  expect(placed.ways.some(({ to }) => to === "cancelled")).toBe(false);
});

test("several ways between two states are one line that has the words of all", () => {
  const { ways } = layOut(graphIn("default"), "down");
  const line = ways.filter(({ from, to }) => from === "agent-review" && to === "stuck");
  expect(line).toHaveLength(1);
  expect(line[0]?.ways).toHaveLength(2);
});
