import { expect, test } from "vitest";
import { createKeyReader, keyName, keyTable } from "./key-table.ts";

test("every key of the table has one meaning, and no key begins a longer one that it would hide", () => {
  const keys = keyTable.map((binding) => binding.keys as string);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys.filter((key) => keys.some((other) => other.startsWith(`${key} `)))).toEqual([]);
});

test("two keys after each other are one, unless too much time lies between them", () => {
  const read = createKeyReader();
  expect(read("g", 0)).toEqual({ waits: true });
  expect(read("b", 900)).toEqual({ id: "go-board" });
  read("g", 2_000);
  expect(read("i", 9_000)).toEqual({ key: "i" });
});

test("a sequence that does not exist is not read as its last key, so that no action of a task is done by mistake", () => {
  const read = createKeyReader();
  read("g", 0);
  expect(read("x", 100)).not.toEqual({ key: "x" });
  expect(read("x", 200)).toEqual({ key: "x" });
});

test("the control and the command key are one", () => {
  expect(keyName({ key: "k", ctrlKey: true, metaKey: false })).toBe("Ctrl+K");
  expect(keyName({ key: "k", ctrlKey: false, metaKey: true })).toBe("Ctrl+K");
  expect(keyName({ key: "K", ctrlKey: false, metaKey: false })).toBe("K");
});
