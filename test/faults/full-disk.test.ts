import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import type { Fault } from "../../src/fault.ts";
import { command } from "./command.ts";
import { createAsk } from "./daemon.ts";
import { readExport } from "./exported-task.ts";
import { eventOf } from "./follow.ts";
import { createHome, movedTo } from "./home.ts";
import { isGone, until } from "./look-at-system.ts";
import { canMount, mount } from "./mount.ts";
import { pacedHook, watchSteps } from "./paced-hook.ts";

const workflow = (base: string) => ({
  paced: `name: paced
version: 1
states:
  todo: { waits_for: human, next: over }
  ready: { waits_for: human, next: over }
  over: { terminal: true }
transitions:
  - { from: todo, to: ready, by: human, hooks: [{ action: run_command, command: ${pacedHook(base)(1)} }] }
`,
});

test.skipIf(!canMount())(
  "on a full disk requests fail and say why; with free space again work continues, and nothing is lost or repeated (needs the right to mount)",
  async () => {
    const outside = createHome(workflow);
    onTestFinished(() => outside.remove());
    const { folder } = mount(outside.base, "size=16m");
    const home = movedTo(outside, folder);
    cpSync(outside.places.workflows, home.places.workflows, { recursive: true });
    const ask = createAsk(home);
    // Started by the command line, so that its log is on the full disk too.
    expect((await command(home, "up")).code).toBe(0);
    const { pid } = await ask(routes.status);
    await ask(routes.addProject, { body: { name: "coffee", path: home.repository, workflow: "paced" } });
    const { task } = await ask(routes.createTask, { body: { project: "coffee", summary: "With a hook" } });
    const params = { task: task.id };
    const steps = watchSteps(home.base, task.id);
    onTestFinished(steps.close);
    await ask(routes.moveTask, { params, body: { to: "ready" } });
    const begun = await steps.next();

    fillUp(join(folder, "filler"));
    const context = "x".repeat(20_000);
    const saved = new Set([task.id]);
    const create = async () => {
      const body = { project: "coffee", summary: "Large", context };
      saved.add((await ask(routes.createTask, { body })).task.id);
    };
    const fault = await firstFault(create);
    expect(fault).toMatchObject({ code: "store.full", message: expect.stringContaining(home.places.database) });
    expect(fault.hint).toContain("Free some space");
    const told = await command(
      home,
      "task",
      "create",
      "--project",
      "coffee",
      "--context",
      context,
      "--summary",
      "Large",
    );
    expect([told.code, told.stderr]).toEqual([1, expect.stringContaining("The disk is full. Free some space")]);

    // The hook ends while nothing can be written.
    begun.goOn();
    (await steps.next()).goOn();
    await until(() => isGone(begun.pid));
    for (let i = 0; i < 20; i++) await expect(create()).rejects.toMatchObject({ code: "store.full" });
    expect(await ask(routes.status)).toMatchObject({ pid });
    expect((await ask(routes.getTask, { params })).effects).toMatchObject([{ state: "owed" }]);

    rmSync(join(folder, "filler"));
    await create();
    await eventOf(home, task.id, ({ type, revision }) => type === "task.settled" && revision > 2);
    const isWhole = async () => {
      expect(await ask(routes.check)).toEqual({ damage: [], stuck: [], branches: [], unsaved: [] });
      const { tasks } = await ask(routes.listTasks, { query: { limit: "1000" } });
      expect(new Set(tasks.map(({ id }) => id))).toEqual(saved);
      const { events } = await readExport(home, task.id);
      // On a slow machine a person may be called meanwhile, once for each need.
      const [calls, others] = [true, false].map((is) =>
        events.map(({ event }) => event).filter(({ type }) => (type === "person.called") === is),
      );
      expect(new Set(calls?.map(({ data }) => data.call)).size).toBe(calls?.length);
      expect(others?.map(({ type }) => type)).toEqual(["task.created", "task.settled", "task.moved", "task.settled"]);
      const { effects } = await ask(routes.getTask, { params });
      expect(effects).toMatchObject([{ state: "done", failure: null }]);
      expect(steps.lines()).toEqual([`1 ${task.id}:${effects[0]?.id}`]);
    };
    await isWhole();
    process.kill(pid, "SIGKILL");
    await until(() => isGone(pid));
    expect((await command(home, "up")).code).toBe(0);
    await isWhole();
  },
);

/** Leaves no free space at all. */
function fillUp(file: string): void {
  for (let size = 1024 * 1024; size >= 1024; size /= 2) {
    for (;;) {
      try {
        writeFileSync(file, Buffer.alloc(size), { flag: "a" });
      } catch {
        break;
      }
    }
  }
}

async function firstFault(run: () => Promise<void>): Promise<Fault> {
  for (;;) {
    try {
      await run();
    } catch (error) {
      return error as Fault;
    }
  }
}
