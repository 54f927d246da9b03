import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { documents, fenced } from "../documents.ts";
import { cliFile } from "../programs.ts";

const examples = documents.filter(({ text }) => commandsIn(text).length > 0);

test("there are documents with commands to run", () => {
  expect(examples.length).toBeGreaterThanOrEqual(3);
});

test.each(examples)("every command of $file ends as it says", ({ text }) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-docs-"));
  const [example = ""] = fenced(text, "yaml");
  writeFileSync(join(folder, "mine.yml"), example);
  const env = { ...process.env, SIGNALBOX_HOME: join(folder, "home"), NO_COLOR: "1" };
  for (const { args, line } of commandsIn(text)) {
    // The fix that the text describes is applied between the two proofs.
    if (line === "signalbox workflow verify mine.yml") writeFileSync(join(folder, "mine.yml"), mended(example));
    const all = [cliFile, ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, all, { cwd: folder, env, encoding: "utf8" });
    expect({ line, status, output: stdout + stderr }).toMatchObject({ line, status: expectedStatus(line) });
  }
  rmSync(folder, { recursive: true });
});

function mended(example: string): string {
  return example.replace("good: false }, then: build", "good: false }, when: visits < 3, then: build");
}

function commandsIn(text: string): readonly { line: string; args: readonly string[] }[] {
  return fenced(text, "sh").flatMap((block) =>
    block.split("\n").flatMap((each) => {
      const command = each.replace(/\s+#.*$/, "");
      return /^(bin\/)?signalbox /.test(command) ? [{ line: each, args: command.split(/\s+/).slice(1) }] : [];
    }),
  );
}

function expectedStatus(line: string): number {
  return Number(/# exit code (\d)/.exec(line)?.[1] ?? 0);
}
