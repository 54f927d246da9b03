import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { eventually } from "../agents/stage.ts";
import { root } from "../documents.ts";
import { startCommands } from "./agent-stage.ts";

vi.setConfig({ testTimeout: 240_000 });

const script = `roles:
  worker:
    - when: { prompt: "Broken" }
      steps:
        - write: { file: "broken.txt", text: "half" }
        - commit: "Half"
        - exit: 3
    - when: { prompt: "Nothing" }
      steps: [{ write: { file: ".", text: "into nowhere" } }]
    - when: { prompt: "Held", turn: 1 }
      steps: [{ write: { file: "held.txt", text: "one" } }, { commit: "One" }, { say: "the first step" }]
    - steps: [{ say: "the second step" }, marker]
`;
const ticket = (id: string, title: string) => `---\nid: ${id}\nstatus: open\n---\n# ${title}\n`;
/** The crew workflow, but an agent that fails once stays stuck. */
const crew = readFileSync(join(root, "workflows/crew.yml"), "utf8")
  .replace("attempts: 5", "attempts: 1")
  .replace("waits_for: 60s", "waits_for: 10m");

test("a person creates agents, sees why one is stuck and the output of all its steps, and merges its work", async () => {
  const { signalbox, json, repository, git, main, env } = await startCommands(script, {
    workflows: { crew },
    config: 'test_command: [sh, -c, "test ! -e held.txt || while test ! -e go; do sleep 0.1; done"]\n',
  });
  const folder = join(repository, ".tickets");
  mkdirSync(folder);
  for (const [id, title] of [
    ["b..1", "Broken"],
    ["n-1", "Nothing"],
    ["h-1", "Held"],
  ] as const)
    writeFileSync(join(folder, `${id}.md`), ticket(id, title));
  const agent = async (name: string) =>
    (await json("crew", "ps")).agents.find((each: { name: string }) => each.name === name);
  const becomes = (name: string, status: string) =>
    eventually(async () => {
      const found = await agent(name);
      return found.status === status ? found : undefined;
    });

  for (const wrong of ["0", "101", "3x"]) expect((await signalbox(["crew", "spawn", wrong])).code).toBe(2);
  const made = await Promise.all([1, 2, 3].map(async () => (await signalbox(["crew", "spawn"])).stdout.trim()));
  expect(made.toSorted()).toEqual(["A", "B", "C"]);

  expect((await signalbox(["crew", "assign", "A", "b..1"])).stdout).toContain("agent/A-b-.1");
  expect((await signalbox(["crew", "assign", "B", "n-1"])).code).toBe(0);
  await becomes("A", "stuck");
  await becomes("B", "stuck");
  // The tickets are unreadable: commands about agents still work.
  renameSync(folder, `${folder}-away`);
  symlinkSync(`${folder}-away`, folder);
  const seen = await signalbox(["crew", "ps"]);
  expect(seen.stdout).toMatch(/^! {2}A .*The scripted agent ended with exit code 3, and did not say why\.$/m);
  expect(seen.stderr).toContain("is a link");
  expect((await signalbox(["crew", "stop"])).stderr).toContain("2 agents continue.");
  unlinkSync(folder);
  renameSync(`${folder}-away`, folder);

  const nothing = await signalbox(["crew", "merge", "B"]);
  expect(nothing).toMatchObject({ code: 1, stdout: "" });
  expect(nothing.stderr).toContain("The branch has no commit of its own yet.");
  // Uncommitted work is reported.
  const left = join((await agent("A")).worktree, "left.txt");
  writeFileSync(left, "left");
  const dirty = await signalbox(["crew", "merge", "A"]);
  expect(dirty.code).toBe(1);
  expect(dirty.stderr).toMatch(/has uncommitted changes, which would not be merged\.\s+Commit them there/);
  unlinkSync(left);
  // The command says that the merge waits for the person.
  const own = join(repository, "broken.txt");
  writeFileSync(own, "mine");
  const asked = spawn(process.execPath, [main, "crew", "merge", "A"], { cwd: repository, env });
  const [told, said] = [text(asked.stdout), text(asked.stderr)];
  asked.stderr.once("data", () => unlinkSync(own));
  expect(await told).toBe("Merged coffee#1: merging → done\n");
  expect(await said).toContain('It waits to be merged into "main". Untracked files in');
  expect(git(repository, "show", "main:broken.txt")).toBe("half");
  expect(readFileSync(join(folder, "b..1.md"), "utf8")).toContain("status: closed");

  expect((await signalbox(["crew", "assign", "C", "h-1"])).code).toBe(0);
  const { worktree, step_count: steps } = await becomes("C", "done");
  expect(steps).toBe(2);
  expect((await signalbox(["crew", "logs", "C"])).stdout).toMatch(
    /^> # Ticket h-1: Held\n· write\n· commit\nthe first step\n> Go on with .*\nthe second step\nDONE\n$/,
  );
  expect((await signalbox(["crew", "logs", "C", "--raw"])).stdout).toMatch(
    /^{"kind":"said","text":"the first step"}$/m,
  );
  expect((await signalbox(["crew", "logs", "B"])).stdout).toMatch(/^> .*\n· write\n! .*EISDIR.*\n$/);
  expect((await signalbox(["crew", "peek", "C"])).stdout).toMatch(/^> Go on with .*\nthe second step\nDONE\n$/);
  const merging = spawn(process.execPath, [main, "crew", "merge", "C", "--json"], { cwd: repository, env });
  const printed = text(merging.stdout);
  // Its tests end only after the command waits for them.
  merging.stderr.once("data", () => writeFileSync(join(worktree, "go"), ""));
  const done = JSON.parse(await printed);
  expect(done).toMatchObject({ merged: true, reason: "", task: { outcome: "done", ticket: "h-1" } });
  expect(git(repository, "show", "main:held.txt")).toBe("one");
  // Undoing the merge says that the ticket stays closed.
  const stays = "Its ticket h-1 stays closed. To work on it again: signalbox ticket reopen h-1";
  for (const flags of [["--dry-run"], []]) {
    const undone = await signalbox(["task", "merge", done.task.id, "--undo", ...flags]);
    expect(undone).toMatchObject({ code: 0, stderr: expect.stringContaining(stays) });
  }
  expect(readFileSync(join(folder, "h-1.md"), "utf8")).toContain("status: closed");
});
