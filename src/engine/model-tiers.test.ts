import { expect, test } from "vitest";
import { builtIn } from "../../test/engine/drive.ts";
import { askedModels, mergeTiers, resolveModel, tierOf, tiersProblem } from "./model-tiers.ts";

const tiers = { large: { claude: "opus", opencode: "" }, small: { claude: "haiku" }, tiny: {} };
const claude = { name: "claude", takesModel: true, isScripted: false };

test.each([
  ["large", { tier: "large", model: "opus" }],
  ["gpt-4o", { tier: "large", model: "opus" }],
  ["gpt-4o-mini", { tier: "small", model: "haiku" }],
  ["claude-x", { tier: "", model: "claude-x" }],
  ["", { tier: "", model: "" }],
  // No name that objects inherit is a tier.
  ["constructor", { tier: "", model: "constructor" }],
  ["tiny", { unmapped: "tiny" }],
])("%j is what claude is asked for as %j", (name, resolved) => {
  expect(resolveModel(tiers, claude, name)).toEqual(resolved);
});

test("a tier reaches a program as a model only where the harness follows a script", () => {
  const scripted = { name: "scripted", takesModel: true, isScripted: true };
  expect(resolveModel(tiers, scripted, "gpt-4o")).toEqual({ tier: "large", model: "large" });
  expect(resolveModel({}, { ...claude, name: "codex" }, "large")).toEqual({ unmapped: "large" });
  expect(resolveModel(tiers, { ...claude, name: "constructor" }, "large")).toEqual({ unmapped: "large" });
});

test("an empty model is the harness's own choice, and so is every tier of a harness that takes no model", () => {
  expect(resolveModel(tiers, { ...claude, name: "opencode" }, "large")).toEqual({ tier: "large", model: "" });
  expect(resolveModel(tiers, { ...claude, name: "cat", takesModel: false }, "small")).toEqual({
    ...{ tier: "small", model: "" },
  });
});

test("large and small are tiers even where nothing maps them", () => {
  expect([tierOf({}, "large"), tierOf({}, "gpt-4o-mini"), tierOf({}, "opus")]).toEqual(["large", "small", undefined]);
});

test("a model that a tier is mapped to may have the name of an alias, but not of a tier", () => {
  expect(tiersProblem({ large: { codex: "gpt-4o" } })).toBeUndefined();
  expect(tiersProblem({ large: { codex: "small" } })).toBe(
    '"model_tiers.large.codex" must name a model, but "small" is a tier.',
  );
  expect(tiersProblem({ "gpt-4o": { codex: "x" } })).toBe(
    '"model_tiers.gpt-4o" is another name of "large". Write model_tiers.large.',
  );
});

test("each harness of each tier counts for itself when sources are merged", () => {
  expect(mergeTiers(tiers, { large: { codex: "c" }, small: { claude: "sonnet" }, huge: { claude: "x" } })).toEqual({
    ...{ large: { claude: "opus", opencode: "", codex: "c" }, small: { claude: "sonnet" }, tiny: {} },
    huge: { claude: "x" },
  });
});

test("a run asks for the model of its state, of its place in a list, or of its task", () => {
  const workflow = builtIn("pipeline");
  const task = { preset: "full-pipeline", settings: {}, model: "own" };
  const asked = (model: string | undefined, status: string, more = {}) =>
    askedModels(workflow, { ...task, ...more }, { model }, status);
  expect(asked("{models}", "CONTEXT_PACK")).toEqual(["small"]);
  expect(asked("{models}", "TESTING")).toEqual(["large"]);
  expect(asked("{models}", "constructor")).toEqual(["large"]);
  expect(asked("{models}", "TESTING", { preset: "quick-fix" })).toEqual(["small"]);
  expect(asked("{scouts}", "PR_REVIEW", { settings: { scouts: ["a", "b"] } })).toEqual(["a", "b"]);
  expect(asked("{judge}", "PR_REVIEW")).toEqual(["large"]);
  expect(asked("opus", "SPEC")).toEqual(["opus"]);
  expect(asked(undefined, "SPEC")).toEqual(["own"]);
});
