import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { eventually } from "../agents/stage.ts";
import { startCommands } from "./agent-stage.ts";

vi.setConfig({ testTimeout: 240_000 });

const script = `roles:
  worker:
    - when: { prompt: "Work on" }
      steps:
        - section: { heading: "## Questions", text: "Which beans?\\n\\nHow many?" }
        - append: { file: recipe.md, text: "water\\n" }
        - commit: Add water
        - say: "At your service."
    - { steps: [{ say: "You said: {prompt}" }] }
  teller:
    - { steps: [{ say: "Told." }] }
`;

test("on a terminal an answer is written in the editor, with what is asked below it, and kept where it is refused", async () => {
  const { atDesk, signalbox, json, base, env, main, repository, task } = await startCommands(script);
  const id = await atDesk("stronger");
  const socket = join(base, "outer.sock");
  const outer = (...args: readonly string[]) =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], { env, cwd: repository, encoding: "utf8" });
  onTestFinished(() => {
    outer("kill-server");
  });
  /** Writes above what it is given, once it has shown that to us. */
  const editor = join(base, "editor");
  const lines = ["#!/bin/sh", `cp "$1" '${base}/seen'`, 'printf "Arabica.\\n# Really" | cat - "$1" > "$1.new"'];
  writeFileSync(editor, [...lines, 'mv "$1.new" "$1"', ""].join("\n"), { mode: 0o755 });
  const command = `'${process.execPath}' '${main}' task`;
  // The window stays, and runs one line after the other as they come.
  outer("new-session", "-d", "-x", "150", "-y", "50", "env", `VISUAL=${editor}`, "PAGER=sed s/^/paged:/", "sh");
  const runs = async (line: string, until: RegExp) => {
    outer("send-keys", "-l", `clear; ${line}; echo "ended with $?"`);
    outer("send-keys", "Enter");
    const screen = () => outer("capture-pane", "-p", "-J");
    return eventually(
      async () => (until.test(screen()) ? screen() : undefined),
      60_000,
      async () => screen(),
    );
  };

  // The way on has a gate that is closed.
  const refused = await runs(`${command} answer ${id}`, /^ended with 1$/m);
  const [, kept = ""] = /What you wrote is kept in (\S+)/.exec(refused) ?? [];
  expect(readFileSync(kept, "utf8")).toMatch(/^Arabica\.\n# Really\n# ------/);
  expect(readFileSync(join(base, "seen"), "utf8")).toMatch(
    /^\n# ------ .* ------\n[\s\S]*^# Which beans\?\n#\n# How many\?$/m,
  );
  expect((await json("task", "show", id)).document.text).not.toContain("Arabica");

  const { text } = (await json("task", "show", id)).document;
  await signalbox(["task", "edit", id, "--file", "-"], `${text}\n## Notes\n\nThere are some.\n`);
  await runs(`${command} answer ${id}`, /desk → telling[\s\S]*^ended with 0$/m);
  const answers = /^## Answers\n\n### .* UTC\n\nArabica\.\n# Really$/m;
  expect((await json("task", "show", id)).document.text).toMatch(answers);
  expect((await task(id)).previousStatus === "desk" || (await task(id)).status === "told").toBe(true);
  // Somebody who writes nothing has not answered.
  await runs(`VISUAL=true ${command} request-changes ${id}`, /Nothing was written[\s\S]*^ended with 1$/m);
  const shown = await runs(`${command} diff ${id}`, /^ended with 0$/m);
  expect(shown).toMatch(/^paged:\+water$/m);
});
