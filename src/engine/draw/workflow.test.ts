import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadWorkflow } from "../language/load.ts";
import type { Workflow } from "../workflow.ts";
import { drawDot, drawMermaid, mermaidIds, mermaidText, wayLabel } from "./workflow.ts";

const strange = `name: 'strange "one"'
version: 1
states:
  a-b: { waits_for: human, next: a_b }
  a_b: { waits_for: human, next: end }
  end: { terminal: true }
transitions: [{ from: a-b, to: end, by: human, gate: { section: '## He said: "<ok>";' } }]
`;

function load(text: string): Workflow {
  const { workflow, problems } = loadWorkflow(text, "strange.yml");
  if (workflow === undefined) throw new Error(JSON.stringify(problems));
  return workflow;
}

test("each state gets a unique id that Mermaid can read", () => {
  expect([...mermaidIds(["a-b", "a_b", "end", "2nd", "working"]).values()]).toEqual([
    "a_b",
    "a_b_2",
    "s_end",
    "s_2nd",
    "working",
  ]);
});

test("text for Mermaid is escaped", () => {
  expect(mermaidText('a: "b"; <c>\n#d')).toBe("a#58; #34;b#34;#59; #60;c#62; #35;d");
});

test("strange names survive in Mermaid and Graphviz", () => {
  const workflow = load(strange);
  expect(drawMermaid(workflow)).toBe(`stateDiagram-v2
  state "a-b" as a_b
  state "a_b" as a_b_2
  state "end" as s_end
  [*] --> a_b
  a_b --> s_end : human, #35;#35; He said#58; #34;#60;ok#62;#34;#59;
  a_b --> a_b_2 : engine
  a_b_2 --> s_end : engine
  s_end --> [*]
  classDef ended stroke-width:3px
  class s_end ended
`);
  expect(drawDot(workflow)).toContain(`digraph "strange \\"one\\"" {`);
  expect(drawDot(workflow)).toContain(`"a-b" -> "end" [label="human, ## He said: \\"<ok>\\";"];`);
});

test("every way of every built-in workflow is drawn once", () => {
  for (const name of ["default", "classic", "pipeline", "crew"]) {
    const workflow = load(readFileSync(join(import.meta.dirname, "../../../workflows", `${name}.yml`), "utf8"));
    const isArrow = (line: string) => line.includes(" --> ") && !line.includes("[*]");
    expect(drawMermaid(workflow).split("\n").filter(isArrow)).toHaveLength(workflow.ways.length);
    expect(drawDot(workflow).match(/ -> .*label=/g)).toHaveLength(workflow.ways.length);
  }
});

test("the way out of a state that waits for a slot is the engine's too", () => {
  const workflow = load(readFileSync(join(import.meta.dirname, "../../../workflows/default.yml"), "utf8"));
  const labels = workflow.ways.filter(({ from, to }) => from === "pending" && to === "planning");
  expect(labels.map((way) => wayLabel(workflow, way))).toEqual(["engine with a free slot or human"]);
});
