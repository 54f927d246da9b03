import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

test("on a terminal an answer is written in the editor, with the question below it, and kept if it is refused", async () => {
  const { atDesk, signalbox, json, base, env, main, repository, task } = await startCommands(script);
  const id = await atDesk("stronger");
  const socket = join(base, "outer.sock");
  const outer = (...args: readonly string[]) =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], { env, cwd: repository, encoding: "utf8" });
  onTestFinished(() => {
    outer("kill-server");
  });
  /** An editor that records its file, and then writes above it. */
  const editor = join(base, "editor");
  const command = `'${process.execPath}' '${main}' task`;
  const [seen, closing] = [join(base, "seen"), join(base, "closing")];
  const other = await atDesk("weaker");
  // While there is a file `closing`, somebody cancels the other task meanwhile.
  const close = `if [ -e '${closing}' ]; then ${command} cancel ${other} >/dev/null 2>&1; fi`;
  const lines = ["#!/bin/sh", `cp "$1" '${seen}'`, close, 'printf "Arabica.\\n# Really" | cat - "$1" > "$1.new"'];
  writeFileSync(editor, [...lines, 'mv "$1.new" "$1"', ""].join("\n"), { mode: 0o755 });
  // The window stays open, and runs the lines one after the other.
  outer("new-session", "-d", "-x", "150", "-y", "50", "env", `VISUAL=${editor}`, "PAGER=sed s/^/paged:/", "sh");
  const screen = () => outer("capture-pane", "-p", "-J");
  // Each line says first which it is: what an earlier one printed is no answer to it.
  let ran = 0;
  const shows = (what: RegExp) =>
    eventually(
      async () => {
        const [, shown = ""] = screen().split(`run ${ran}:\n`);
        return what.test(shown) ? shown : undefined;
      },
      60_000,
      async () => screen(),
    );
  const runs = (line: string, until: RegExp) => {
    ran++;
    outer("send-keys", "-l", `clear; echo run ${ran}:; ${line}; echo "ended with $?"`);
    outer("send-keys", "Enter");
    return shows(until);
  };

  // The way has a closed gate: nothing is to be written that will be refused.
  await runs(`${command} answer ${id}`, /^ended with 1$/m);
  expect(existsSync(seen)).toBe(false);

  const { text } = (await json("task", "show", id)).document;
  for (const each of [id, other])
    await signalbox(["task", "edit", each, "--file", "-"], `${text}\n## Notes\n\nThere are some.\n`);
  writeFileSync(closing, "");
  const refused = await runs(`${command} answer ${other}`, /Your text is kept in[\s\S]*^ended with 1$/m);
  rmSync(closing);
  const [, kept = ""] = /Your text is kept in (\S+)/.exec(refused) ?? [];
  expect(readFileSync(kept, "utf8")).toMatch(/^Arabica\.\n# Really\n# ------/);
  expect(readFileSync(seen, "utf8")).toMatch(/^\n# ------ .* ------\n[\s\S]*^# Which beans\?\n#\n# How many\?$/m);
  expect((await json("task", "show", other)).document.text).not.toContain("Arabica");

  // Continuing without an answer is asked on a terminal, and refused elsewhere.
  await runs(`echo n | ${command} continue ${id}`, /signalbox task answer .*[\s\S]*^ended with 1$/m);
  await runs(
    `${command} continue ${id}`,
    /Its agent has questions, and nobody has answered them\. Continue nevertheless\? \[y\/N\]/,
  );
  outer("send-keys", "Enter");
  await shows(/Nothing has changed\.\nended with 1/);
  // An empty text is not an answer.
  await runs(`VISUAL=true ${command} answer ${id}`, /The text is empty[\s\S]*^ended with 1$/m);
  await runs(`${command} answer ${id}`, /desk → telling[\s\S]*^ended with 0$/m);
  const answers = /^## Answers\n\n### .* UTC\n\nArabica\.\n# Really$/m;
  expect((await json("task", "show", id)).document.text).toMatch(answers);
  expect((await task(id)).previousStatus === "desk" || (await task(id)).status === "told").toBe(true);
  const shown = await runs(`${command} diff ${id}`, /^ended with 0$/m);
  expect(shown).toMatch(/^paged:\+water$/m);
});
