import { expect, test } from "vitest";
import { readScreen } from "./reading.ts";

const head = "\n  >_ OpenAI Codex (v0.166.0)\n     /home/u/project\n\n\n";
const input =
  "\n\n› Ask Codex to do anything\n\n  gpt-6-sol high · /home/u/project · Say hello\n  ? for shortcuts            ⚠ 1 warning · f2 to view\n";

test.each([
  ["starting", "", "vm"],
  ["starting", head, "project"],
  ["ready", `${head}› hello there\n\n\n• first\n\n  Worked for <1s • 13:24\n${input}`, "Say hello | project"],
  ["busy", `${head}› second message\n\n◦ Working (1s • esc to interrupt)\n${input}`, "project"],
  ["busy", `${head}› second message\n\n• Working (1m 12s • esc to interrupt)\n${input}`, "project"],
  ["busy", `${head}› second message\n${input}`, "⠸ Say hello | project"],
  ["asks", "  Folder access\n\n› 1. Trust and continue\n  2. Quit\n\n  enter continue · esc quit\n", "vm"],
  ["asks", "  Meet GPT-6 Sol\n\n› 1. Try new model\n  2. Use existing model\n\n  enter/esc confirm · ^c quit\n", "vm"],
  ["asks", "  Hooks need review\n\n› 1. Review hooks\n  2. Trust all\n\n  enter confirm · esc skip\n", "vm"],
  [
    "asks",
    `${head}  Would you like to run the following command?\n\n  $ touch x\n\n› 1. Yes, proceed (y)\n  2. No (esc)\n\n  Press enter to confirm or esc to cancel\n`,
    "project",
  ],
  ["asks", `${head}• Running touch x\n`, "[ . ] Action Required | project"],
  [
    "asks",
    `${head}  🔒  This conversation is open in another app\n\n   r retry   f fork   esc/^c/q exit   ^t transcript\n`,
    "project",
  ],
  ["unknown", "bash: something else\n$", "vm"],
])("a screen is %s", (state, screen, title) => {
  expect(readScreen(screen, title)).toBe(state);
});

test("an agent's output higher up on the screen changes nothing", () => {
  const fake = "› 1. Yes\n  2. No\n\n  Press enter to confirm or esc to cancel\n";
  expect(readScreen(`${head}${fake}${"\n".repeat(24)}${input}`, "project")).toBe("ready");
});
