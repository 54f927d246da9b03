import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { actionKeys, moveKeys } from "../api/act.ts";
import { createKeys, ownBindings } from "./bindings.ts";

test("no action of a task and nothing of the dashboard's own share a key", () => {
  const taken = new Set<string>([...Object.values(actionKeys), ...moveKeys]);
  const shared = ownBindings.flatMap(({ id, keys }) =>
    keys.filter((key) => taken.has(key)).map((key) => `${id}: ${key}`),
  );
  expect(shared).toEqual([]);
  expect(createKeys().problems).toEqual([]);
});

test("no key begins a sequence and means something alone", () => {
  const { own, prefixes, actions } = createKeys();
  const taken = [...own.keys(), ...actions.keys(), ...Object.values(actionKeys)];
  expect([...prefixes].filter((prefix) => taken.includes(prefix))).toEqual([]);
});

test("a person changes keys by the names of actions, the dashboard's own and those of tasks", () => {
  const { own, actions, shown, problems } = createKeys({ search: "S", approve: "Y" });
  expect(own.get("S")).toBe("search");
  expect(own.has("/")).toBe(false);
  expect(shown.get("search")).toBe("S");
  expect(actions.get("Y")).toBe("A");
  expect(problems).toEqual([]);
});

test("a key that is bound twice is named, and so is a name that is no action", () => {
  expect(createKeys({ search: "q" }).problems).toEqual([
    'The key "q" is bound twice, to search and quit; it does search.',
  ]);
  expect(createKeys({ approve: "m" }).problems.join()).toMatch(/"m" is bound twice, to approve and merge/);
  expect(createKeys({ serach: "S" }).problems).toEqual(['dashboard.keys has "serach", which is no action.']);
});

test("docs/cli.md has every key of the dashboard, with its name in the configuration", () => {
  const text = readFileSync(join(import.meta.dirname, "../../docs/cli.md"), "utf8");
  const rows = ownBindings.map(
    ({ id, keys, label }) => `| ${label} | ${keys.map((key) => `\`${key}\``).join(", ")} | \`${id}\` |`,
  );
  expect(rows.filter((row) => !text.includes(row))).toEqual([]);
});
