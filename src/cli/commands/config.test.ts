import { expect, test } from "vitest";
import { configTemplate } from "./config.ts";

test("a repository's configuration names no place on the machine where it was written", () => {
  expect(configTemplate()).not.toMatch(/(^|[\s=:])\/\w/m);
});
