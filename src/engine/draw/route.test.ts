import { expect, test } from "vitest";
import { type Route, routeMermaid, routeText } from "./route.ts";

const step = (from: string, to: string, text = "x") => ({ from, to, text });

test("a route is its states joined by arrows", () => {
  const route: Route = { created: "a", steps: [step("a", "a"), step("a", "b"), step("b", "c")], circle: 0 };
  expect(routeText(route)).toEqual(["a → b → c"]);
});

test("a cycle has a line of its own", () => {
  const route: Route = { created: "a", steps: [step("a", "b"), step("b", "c"), step("c", "b")], circle: 2 };
  expect(routeText(route)).toEqual(["a → b", "↻ b → c → b → …"]);
});

test("a cycle within one state is still a cycle", () => {
  const route: Route = { created: "a", steps: [step("a", "a"), step("a", "a", "again: and again")], circle: 1 };
  expect(routeText(route)).toEqual(["a", "↻ a → a → …"]);
  expect(routeMermaid(route)).toContain("  a --> a : ↻ 2. again#58; and again\n");
});

test("the drawing leaves out steps that do not move the task", () => {
  const route: Route = { created: "a", steps: [step("a", "a"), step("a", "b", "go")], circle: 0 };
  expect(routeMermaid(route)).toBe(`stateDiagram-v2
  state "a" as a
  state "b" as b
  [*] --> a
  a --> b : 2. go
`);
});
