import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../test/documents.ts";
import type { Harness } from "../../ports/harness.ts";
import { readObstacle as claude } from "./claude/reading.ts";
import { readObstacle as codex } from "./codex/reading.ts";
import { readObstacle as gemini } from "./gemini/reading.ts";
import { readObstacle as opencode } from "./opencode/reading.ts";

type Read = NonNullable<Harness["readObstacle"]>;

const screen = (name: string) => readFileSync(join(root, "test/fixtures/screens", `${name}.txt`), "utf8");

// Captured from the real programs in a home without a login.
const captured: readonly (readonly [string, Read, "login" | "trust", string])[] = [
  ["claude-not-logged-in", claude, "login", "claude auth login"],
  ["claude-trust", claude, "trust", "in its window"],
  ["codex-sign-in", codex, "login", "codex login"],
  ["codex-trust", codex, "trust", "in its window"],
  ["gemini-sign-in", gemini, "login", "gemini"],
  ["gemini-trust", gemini, "trust", "in its window"],
];

test.for(captured)("the screen %s is recognised, with the command that helps", ([name, read, kind, mends]) => {
  const obstacle = read(screen(name));
  expect(obstacle?.kind).toBe(kind);
  expect(obstacle?.told).toContain(mends);
});

test("a program that cannot reach its provider does not count as logged out", () => {
  expect(claude(screen("claude-unreachable"))).toBeUndefined();
});

test("the output of a program that ended is recognised like its screen", () => {
  expect(gemini("Please set an Auth method in your /home/ada/.gemini/settings.json")?.kind).toBe("login");
  expect(claude("Not logged in · Please run /login")?.kind).toBe("login");
  expect(claude("No conversation found with session ID: 1111")?.kind).toBe("session");
  expect(codex("Error: no rollout found for thread id 1111")?.kind).toBe("session");
  expect(opencode("Session not found")?.kind).toBe("session");
});

test("a question about an update is reported with the command that updates", () => {
  const prompt = "✨ Update available! 0.166.0 -> 0.170.0\n› 1. Update now\n  2. Skip\n  3. Skip until next version\n";
  expect(codex(prompt)).toMatchObject({
    kind: "update",
    told: expect.stringContaining("npm install -g @openai/codex"),
  });
  const needs = "Your version of Claude Code (1.0.0) needs an update.\nPlease run: claude update";
  expect(claude(needs)?.told).toContain("claude update");
});

test("the screen of a working agent shows no obstacle", () => {
  const ready = "› Write the tests\n\n  gpt-6-sol high · ~/project";
  for (const read of [claude, codex, gemini, opencode]) expect(read(ready)).toBeUndefined();
});
