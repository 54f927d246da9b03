import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeEach, expect, test } from "vitest";
import { ensureHumanToken, readHumanToken } from "./human-token.ts";
import { homePlaces, type Places } from "./places.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-token-"));
afterAll(() => rmSync(base, { recursive: true }));
let places: Places;
let homes = 0;
beforeEach(() => {
  places = homePlaces(join(base, `home-${++homes}`));
});

test("a token is created once, in a file that only the user can read", () => {
  expect(readHumanToken(places)).toBeUndefined();
  const token = ensureHumanToken(places);
  expect(token).toMatch(/^sbh_[0-9a-f]{48}$/);
  expect(ensureHumanToken(places)).toBe(token);
  expect(readHumanToken(places)).toBe(token);
  expect(statSync(places.humanToken).mode & 0o777).toBe(0o600);
  expect(readFileSync(places.humanToken, "utf8")).toBe(`${token}\n`);
});

test("two homes have two tokens", () => {
  expect(ensureHumanToken(places)).not.toBe(ensureHumanToken(homePlaces(join(base, "other"))));
});

test("several processes that create a token together get the same one", async () => {
  const code = `
    const { ensureHumanToken } = await import(${JSON.stringify(join(import.meta.dirname, "human-token.ts"))});
    while (Date.now() < Number(process.argv[2]));
    console.log(ensureHumanToken({ humanToken: process.argv[1] }));`;
  const args = ["--input-type=module", "--eval", code, places.humanToken, String(Date.now() + 1_500)];
  const run = () => promisify(execFile)(process.execPath, args);
  const tokens = await Promise.all(Array.from({ length: 6 }, run));
  expect(new Set(tokens.map(({ stdout }) => stdout.trim()))).toEqual(new Set([readHumanToken(places)]));
  expect(readdirSync(join(base, `home-${homes}`))).toEqual(["human.token"]);
});

test.each([0o640, 0o604, 0o620])(
  "a token that others can read (%o) is refused, and the hint says how to restrict it",
  (mode) => {
    const token = ensureHumanToken(places);
    chmodSync(places.humanToken, mode);
    const refusal = expect.objectContaining({
      code: "exposed-token",
      hint: expect.stringContaining(`chmod 600 "${places.humanToken}"`),
    });
    expect(() => readHumanToken(places)).toThrow(refusal);
    expect(() => ensureHumanToken(places)).toThrow(refusal);
    chmodSync(places.humanToken, 0o600);
    expect(readHumanToken(places)).toBe(token);
  },
);

test.each(["", "sbh_", `sbh_${"g".repeat(48)}`])("a file with %j in it does not contain a token", (text) => {
  mkdirSync(join(base, `home-${homes}`));
  writeFileSync(places.humanToken, text, { mode: 0o600 });
  expect(() => ensureHumanToken(places)).toThrow(`The file ${places.humanToken} does not contain a token.`);
});
