import { expect, test } from "vitest";
import { tomlText } from "./settings.ts";

test("values of every kind are written in one line", () => {
  expect(tomlText({ "/a b": { on: true, list: ["x", 3] } })).toBe('{"/a b"={"on"=true,"list"=["x",3]}}');
});

test("characters that TOML does not allow are escaped", () => {
  expect(tomlText('a "b"\n\u0001\u007f')).toBe(String.raw`"a \"b\"\n\u0001\u007f"`);
  expect(tomlText("\ud800")).toBe('"\ufffd"');
});
