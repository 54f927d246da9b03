import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { eventually, startStage } from "./stage.ts";

const flow = `name: flow
version: 1
roles: { worker: { mode: turn, harness: task } }
states:
  todo: { waits_for: slot, next: busy }
  busy: { agent: { role: worker, prompt: work }, outcomes: [{ on: ok, then: done }, { on: failed, then: lost }] }
  done: { terminal: true }
  lost: { terminal: true, outcome: failed }
transitions: [{ from: todo, to: busy, hooks: [acquire_workspace] }]
prompts: { work: Work }
`;
const brew = "echo full >cup.md; git add cup.md; git commit -qm cup";

test("a commit of a working agent outlives its folder though nobody has asked for the task", async () => {
  const script = `roles:
  worker: [{ steps: [{ run: [sh, -c, ${JSON.stringify(brew)}] }, { sleep: 120s }] }]
`;
  const stage = await startStage({ flow, script });
  const first = stage.git(stage.repository, "rev-parse", "HEAD");
  const id = await stage.create("a cup");
  // Reads files only: a request would collect the commit.
  const saved = await eventually(async () => {
    const [control = ""] = readdirSync(stage.places.control).filter((name) => name.startsWith("coffee"));
    const ref = join(stage.places.control, control, "refs", "signalbox", "tasks", id);
    const commit = existsSync(ref) ? readFileSync(ref, "utf8").trim() : first;
    return commit === first ? undefined : commit;
  });
  const { workspace } = await stage.task(id);
  expect(stage.git(workspace, "log", "-1", "--format=%H %s")).toBe(`${saved} cup`);
  rmSync(workspace, { recursive: true });
  await stage.call(routes.respawnTask, { params: { task: id }, body: {} });
  await eventually(async () => existsSync(join(workspace, "cup.md")) || undefined);
  const restored = (await stage.events(id)).find(({ type }) => type === "workspace.restored");
  expect(restored?.data).toEqual({ workspace, commit: saved });
});
