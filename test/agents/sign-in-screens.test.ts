import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { root } from "../documents.ts";
import { startStage } from "./stage.ts";

const flow = (harness: string) => `name: flow
version: 1
roles: { worker: { mode: session, harness: ${harness}, permissions: full, window: worker, keep: true } }
states:
  todo: { waits_for: slot, next: busy }
  busy: { agent: { role: worker, prompt: work }, respawn_prompt: work, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, gate: { section: "## Handoff", fields: [DONE] } }
prompts: { work: "Work on {summary}" }
`;

/** Shows the screen of the real program without a login, and waits. */
function program(status: string): string {
  return `#!/bin/sh
case "$*" in
  *--version*) echo "9.9.9"; exit 0 ;;
  "debug models"*) exit 1 ;;
  "auth status"*|"login status"*) echo '${status}'; exit 1 ;;
esac
cat "$(dirname "$0")/screen.txt"
exec sleep 1000
`;
}

test.for([
  ["codex", "codex-sign-in", "Not logged in", /not logged in.*codex login/s],
  ["claude", "claude-not-logged-in", '{ "loggedIn": false }', /not logged in.*claude auth login/s],
  ["gemini", "gemini-sign-in", "", /not logged in.*gemini/s],
  ["codex", "codex-trust", "Not logged in", /in its window/],
] as const)("the run and the task of %s report its screen %s", async ([name, screen, status, told]) => {
  const stage = await startStage({
    ...{ flow: flow(name), harness: name },
    env(base) {
      const programs = join(base, "programs");
      mkdirSync(programs);
      writeFileSync(join(programs, name), program(status), { mode: 0o755 });
      // Beside the program, where it is found in a sandbox too.
      copyFileSync(join(root, "test/fixtures/screens", `${screen}.txt`), join(programs, "screen.txt"));
      return { PATH: `${programs}:${process.env.PATH}` };
    },
  });
  const id = await stage.create("a cup");
  await stage.untilRun(({ pid }) => pid > 0);
  const run = await stage.untilRun(({ raised }) => raised !== "");
  expect(run).toMatchObject({ activity: "asks", raised: expect.stringMatching(told) });
  expect((await stage.task(id)).needsPerson).toBe(true);
  const { blocked } = await stage.call(routes.explainTask, { params: { task: id } });
  expect(blocked.map(({ reason, fix }) => `${reason} ${fix}`).join("\n")).toMatch(told);
  const { harnesses } = await stage.call(routes.listHarnesses, { query: { name } });
  if (screen !== "codex-trust") expect(harnesses).toMatchObject([{ name, login: "out" }]);
});
