import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadWorkflow } from "./language/load.ts";
import { mergingState } from "./merging-state.ts";

function load(name: string) {
  const { workflow } = loadWorkflow(
    readFileSync(new URL(`../../workflows/${name}.yml`, import.meta.url), "utf8"),
    name,
  );
  if (workflow === undefined) throw new Error("It does not load.");
  return workflow;
}

test("a stuck ticket can be put where its workflow merges it; elsewhere the crew's tasks go there by themselves", () => {
  const crew = load("crew");
  const found = Object.keys(crew.states).flatMap((status) => [[status, mergingState(crew, status)]]);
  expect(found.filter(([, to]) => to !== undefined)).toEqual([["stuck", "merging"]]);
});

test("where a person can merge a task straight away, that is what is done", () => {
  const usual = load("default");
  for (const status of Object.keys(usual.states))
    expect([status, mergingState(usual, status)]).toEqual([status, undefined]);
});
