import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadWorkflow } from "./language/load.ts";
import { mergesAlone, mergingState } from "./persons-turn.ts";

function load(name: string) {
  const { workflow } = loadWorkflow(
    readFileSync(new URL(`../../workflows/${name}.yml`, import.meta.url), "utf8"),
    name,
  );
  if (workflow === undefined) throw new Error("It does not load.");
  return workflow;
}

test("a person can move a stuck crew task to the state that merges it; from other states it gets there by itself", () => {
  const crew = load("crew");
  const found = Object.keys(crew.states).flatMap((status) => [[status, mergingState(crew, status)]]);
  expect(found.filter(([, to]) => to !== undefined)).toEqual([["stuck", "merging"]]);
});

test("there is no merging state where a person can merge the task directly", () => {
  const usual = load("default");
  for (const status of Object.keys(usual.states))
    expect([status, mergingState(usual, status)]).toEqual([status, undefined]);
});

test("crew merges without asking a person; default, classic, minimal and pipeline do not", () => {
  const names = ["default", "classic", "minimal", "crew", "pipeline"];
  expect(names.filter((name) => mergesAlone(load(name)))).toEqual(["crew"]);
});
