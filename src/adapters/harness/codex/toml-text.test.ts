import { expect, test } from "vitest";
import { tomlText } from "./toml-text.ts";

test("values of every kind are written in one line", () => {
  expect(tomlText({ "/a b": { on: true, list: ["x", 3] } })).toBe('{"/a b"={"on"=true,"list"=["x",3]}}');
});

test("what TOML does not take as it is is escaped", () => {
  expect(tomlText('a "b"\n\u0001\u007f')).toBe(String.raw`"a \"b\"\n\u0001\u007f"`);
  expect(tomlText("\ud800")).toBe('"\ufffd"');
});
