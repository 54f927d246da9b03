import type { Finder } from "./project-files.ts";
import { fieldOf, readJson } from "./read-json.ts";

/** A workflow preset builds before it tests, so it comes before a preset that only tests what is built. */
export const ctestPresets: Finder = (files, note) => {
  const from = "CMakePresets.json";
  const presets = readJson(files, from, note);
  const workflow = namesOf(presets, "workflowPresets", (preset) =>
    listOf(fieldOf(preset, "steps")).some((step) => fieldOf(step, "type") === "test"),
  )[0];
  if (workflow !== undefined) {
    const why = `"${from}" has the workflow preset "${workflow}", which tests.`;
    return { argv: ["cmake", "--workflow", "--preset", workflow], from, why };
  }
  const [test] = namesOf(presets, "testPresets", (preset) => fieldOf(preset, "hidden") !== true);
  if (test === undefined) return undefined;
  return { argv: ["ctest", "--preset", test], from, why: `"${from}" has the test preset "${test}".` };
};

function namesOf(presets: unknown, kind: string, isMeant: (preset: unknown) => boolean): readonly string[] {
  return (
    listOf(fieldOf(presets, kind))
      .filter(isMeant)
      .map((preset) => fieldOf(preset, "name"))
      // A name that looks like an option would be taken for one; a program cannot be given a NUL at all.
      .filter((name) => typeof name === "string")
      .filter((name) => /^[^-\0][^\0]*$/.test(name))
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
