import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { loadWorkflow } from "../engine/language/load.ts";
import { sha256 } from "../sha256.ts";
import { homePlaces, type Places } from "./places.ts";
import { isTrusted, trust } from "./trust.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-trust-"));
afterAll(() => rmSync(base, { recursive: true }));
let places: Places;
beforeEach(() => {
  places = homePlaces(mkdtempSync(join(base, "home-")));
});
const [one, two, three] = ["one", "two", "three"].map(sha256) as [string, string, string];
const lines = () => readFileSync(places.trusted, "utf8").split("\n");

test("a workflow is trusted by its content, once the user has trusted it", () => {
  const text = "version: 1\nstates: { a: { next: b }, b: { terminal: true } }\n";
  const hashOf = (each: string) => loadWorkflow(each, "a.yml").workflow?.hash ?? "";
  expect(isTrusted(places, hashOf(text))).toBe(false);
  trust(places, hashOf(text), "app: a.yml");
  expect(isTrusted(places, hashOf(text))).toBe(true);
  expect(isTrusted(places, hashOf(`${text}# changed\n`))).toBe(false);
});

test("each hash has one line, with a note on it", () => {
  trust(places, one, "app: default");
  trust(places, two, "a note\nof two lines\u0007");
  trust(places, one, "again");
  expect(lines()).toEqual([`${one} app: default`, `${two} a note of two lines`, ""]);
});

test("only the user can read the file, even if it was open before", () => {
  trust(places, one, "");
  expect(statSync(places.trusted).mode & 0o777).toBe(0o600);
  chmodSync(places.trusted, 0o644);
  trust(places, two, "");
  expect(statSync(places.trusted).mode & 0o777).toBe(0o600);
});

test("half a line at the end is ignored and does not spoil the next one", () => {
  writeFileSync(places.trusted, `${one} first\n${two.slice(0, 40)}`);
  expect([one, two].map((hash) => isTrusted(places, hash))).toEqual([true, false]);
  trust(places, three, "third");
  trust(places, two, "second");
  expect([one, two, three].map((hash) => isTrusted(places, hash))).toEqual([true, true, true]);
});

test("a hash counts only at the beginning of a line, and as a whole", () => {
  writeFileSync(places.trusted, `${one} see ${two}\n${three}0 longer\n`);
  expect([one, two, three].map((hash) => isTrusted(places, hash))).toEqual([true, false, false]);
  expect(isTrusted(places, "")).toBe(false);
});

test("text that is not a hash is refused, and an unusable file is a Fault", () => {
  expect(() => trust(places, "abc", "")).toThrow('"abc" is not the hash of a workflow.');
  const nowhere = { trusted: join(base, "none", "trusted") };
  expect(isTrusted(nowhere, one)).toBe(false);
  expect(() => trust(nowhere, one, "")).toThrow(/trusted cannot be written \(ENOENT\)/);
  expect(() => isTrusted({ trusted: base }, one)).toThrow(/cannot be read \(EISDIR\)/);
});
