import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { Fault } from "../../src/fault.ts";
import { coreStage } from "./core-stage.ts";
import { human, startGitCore } from "./git-core.ts";

const notifying = `
version: 1
states:
  a: { waits_for: human, next: b }
  b: { do: [notify], next: done }
  done: { terminal: true, do: [notify] }
`;

test("a notify under `do` that fails is recorded, and the task continues", async () => {
  const notify = async () => {
    throw new Fault("notify.failed", "No notification could be delivered.");
  };
  const { create, core, rest, statuses, store } = await coreStage(notifying, 1, undefined, () => ({
    performers: () => ({ notify }),
  }));
  await create("t1");
  await rest();
  await core.submit("t1", { kind: "continue", actor: human });
  await rest();
  expect(await statuses("t1")).toEqual(["done"]);
  expect((await store.getTask("t1"))?.task.phase).toBe("over");
  const events = await store.listEvents({ task: "t1" }, 0, 100);
  expect(events.filter(({ event }) => event.type === "effect.failed")).toHaveLength(2);
});

test("a task that is cancelled in its fan-out, before it has children, ends", async () => {
  const text = `
version: 1
states:
  a: { agent: { role: planner, mode: turn, prompt: p, result: plan }, next: b }
  b: { fan_out: { from: plan.parts, workflow: part }, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: human }]
prompts: { p: x }
schemas: { plan: { type: object, properties: { parts: { type: array } } } }
`;
  const { create, core, rest, store } = await coreStage(text);
  await create("t1");
  await rest();
  const answer = { parts: [{ id: "1", title: "One" }] };
  await core.submit("t1", { kind: "ended", run: "planner#1", word: "ok", answer });
  await rest();
  expect((await store.getTask("t1"))?.task.status).toBe("b");
  await core.submit("t1", { kind: "move", to: "dropped", actor: human });
  await rest();
  expect((await store.getTask("t1"))?.task).toMatchObject({ status: "dropped", phase: "over" });
  expect(await store.openEffects("t1")).toEqual([]);
  await core.close();
});

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace, { action: run_command, command: [tidy] }] }
`;

/** A cancelled task whose last hook fails until `isMended`. */
async function startEndedStage(workspaces: "worktree" | "clone" = "clone") {
  const state = { isMended: false, tidying: Promise.resolve() };
  const stage = await startGitCore({
    ...{ name: "ended", flow, workspaces },
    ports: {
      performers: () => ({
        async run_command() {
          await state.tidying;
          if (!state.isMended) throw new Fault("command.failed", "tidy ended with 1.");
        },
      }),
    },
  });
  const handlers = createHandlers(stage.core) as Record<string, (asked: unknown) => Promise<never>>;
  const ask = (route: string, params: object, body: object = {}, query: object = {}): Promise<never> => {
    const asked = { params, body, query, caller: { kind: "human" }, folder: "", lastEvent: "" };
    return handlers[route]?.(asked) ?? Promise.reject(new Error(route));
  };
  await stage.create("b1111");
  const { workspace } = await stage.goOn("b1111");
  writeFileSync(join(workspace, "idea.md"), "cold brew\n");
  const isHeld = () => stage.until("b1111", ({ task }) => task.held !== undefined);
  return { ...stage, state, ask, workspace, isHeld };
}

for (const verb of ["retryTask", "continueTask"]) {
  test(`a cancelled task whose hook failed ends after ${verb}, once the cause is removed`, async () => {
    const { ask, state, isHeld, until } = await startEndedStage();
    await ask("cancelTask", { task: "b1111" });
    await isHeld();
    const { blocked }: { blocked: readonly { fix: string }[] } = await ask("explainTask", { task: "b1111" });
    expect(blocked[0]?.fix).toContain("signalbox task retry b1111");
    expect(blocked[0]?.fix).toContain("signalbox task delete b1111");
    state.isMended = true;
    await ask(verb, { task: "b1111" });
    expect(await until("b1111", ({ isOpen }) => !isOpen)).toMatchObject({ status: "dropped", phase: "over" });
  });
}

test("a task waits for a branch that another task is about to release", async () => {
  const { ask, state, until, store } = await startEndedStage();
  const { branch } = (await store.getTask("b1111"))?.task ?? {};
  const tidied = Promise.withResolvers<void>();
  state.tidying = tidied.promise;
  state.isMended = true;
  await ask("cancelTask", { task: "b1111" });
  const created = ask("createTask", {}, { project: "coffee", summary: "Go on", branch, workflow: "minimal" });
  expect((await store.getTask("b1111"))?.isOpen).toBe(true);
  tidied.resolve();
  expect(await created).toMatchObject({ task: { branch } });
  expect(await until("b1111", ({ isOpen }) => !isOpen)).toMatchObject({ phase: "over" });
});

test("a task that has ended counts as over in lists while its last effects are carried out, unless they fail", async () => {
  const { ask, state, isHeld } = await startEndedStage();
  const { promise, resolve } = Promise.withResolvers<void>();
  state.tidying = promise;
  const listed = async (open: string) =>
    ((await ask("listTasks", {}, {}, { open })) as { tasks: readonly { id: string }[] }).tasks.map(({ id }) => id);
  expect([await listed("true"), await listed("false")]).toEqual([["b1111"], []]);
  await ask("cancelTask", { task: "b1111" });
  expect([await listed("true"), await listed("false")]).toEqual([[], ["b1111"]]);
  resolve();
  await isHeld();
  expect([await listed("true"), await listed("false")]).toEqual([["b1111"], []]);
});

test("a task that is about to end is not deleted before it has ended", async () => {
  const { ask, state, store, until } = await startEndedStage();
  const { promise, resolve } = Promise.withResolvers<void>();
  Object.assign(state, { tidying: promise, isMended: true });
  await ask("cancelTask", { task: "b1111" });
  await expect(ask("deleteTask", { task: "b1111" })).rejects.toThrow("still being carried out");
  await expect(ask("removeProject", { project: "coffee" })).rejects.toThrow();
  resolve();
  await until("b1111", ({ isOpen }) => !isOpen);
  await ask("deleteTask", { task: "b1111" });
  expect(await store.getTask("b1111")).toBeUndefined();
});

test("a cancelled task whose hook fails for ever can be deleted, and then its project removed", async () => {
  const { ask, isHeld, store, workspace, git, workspaces } = await startEndedStage();
  await ask("cancelTask", { task: "b1111" });
  await isHeld();
  await expect(ask("removeProject", { project: "coffee" })).rejects.toMatchObject({
    hint: expect.stringContaining("signalbox task delete b1111"),
  });
  const { control } = await workspaces();
  expect(await ask("deleteTask", { task: "b1111" })).toMatchObject({ left: [] });
  expect(await store.getTask("b1111")).toBeUndefined();
  const [salvage = ""] = git(control.folder, "for-each-ref", "--format=%(refname)", "refs/signalbox/salvage").split(
    "\n",
  );
  expect(git(control.folder, "show", `${salvage}:idea.md`)).toBe("cold brew");
  expect(await ask("removeProject", { project: "coffee" })).toMatchObject({ salvaged: 1 });
  expect(existsSync(join(workspace, "idea.md"))).toBe(false);
});

test("a held task that is deleted no longer needs a person, and does not count as open", async () => {
  const { ask, isHeld, core } = await startEndedStage();
  await ask("cancelTask", { task: "b1111" });
  await isHeld();
  expect(await core.needs.counts()).toEqual({ open: 1, needPerson: 1 });
  await ask("deleteTask", { task: "b1111" });
  expect(await core.needs.counts()).toEqual({ open: 0, needPerson: 0 });
  expect(await core.store.calls.list({})).toEqual([]);
});

test("a cancelled task whose workspace cannot be saved can be deleted, and the folder is kept unchanged", async () => {
  const { ask, isHeld, store, workspace, repository } = await startEndedStage("worktree");
  rmSync(repository, { recursive: true });
  await ask("cancelTask", { task: "b1111" });
  await isHeld();
  const { left }: { left: readonly string[] } = await ask("deleteTask", { task: "b1111" });
  expect(left).toEqual([`${workspace}-left-b1111`]);
  expect(readFileSync(join(left[0] ?? "", "idea.md"), "utf8")).toBe("cold brew\n");
  expect(await store.workspaces.list({ project: "coffee" })).toEqual([]);
  expect(await ask("removeProject", { project: "coffee" })).toMatchObject({ left: [] });
});

test("a task whose workflow no longer loads can be deleted, with its work saved", async () => {
  const { ask, core, store } = await startEndedStage();
  core.workflows.get = async () => {
    throw new Fault("workflow.invalid", 'The workflow "flow.yml" does not load any more.');
  };
  await expect(ask("cancelTask", { task: "b1111" })).rejects.toThrow("cannot be cancelled yet");
  await ask("deleteTask", { task: "b1111" });
  expect(await store.getTask("b1111")).toBeUndefined();
});

test("a project whose control repository is damaged is named, and hides no other project's salvage", async () => {
  const { ask, store, isHeld, places, repository } = await startEndedStage();
  await ask("cancelTask", { task: "b1111" });
  await isHeld();
  const project = await store.getProject("coffee");
  if (project === undefined) throw new Error("missing");
  await store.addProject({ ...project, name: "aged", path: repository });
  mkdirSync(join(places.control, "aged.git"), { recursive: true });
  writeFileSync(join(places.control, "aged.git", "HEAD"), "broken");
  writeFileSync(join(places.control, "aged.git", "config"), "[core\nbroken");
  const { salvaged, unreadable }: { salvaged: readonly { ref: string }[]; unreadable: readonly { project: string }[] } =
    await ask("listSalvage", {});
  expect([salvaged.length, unreadable.map((each) => each.project)]).toEqual([1, ["aged"]]);
  await ask("dropSalvage", {}, { ref: salvaged[0]?.ref });
  expect(await ask("listSalvage", {})).toMatchObject({ salvaged: [] });
});

test("unmerged work keeps a person from ending a task as done by mistake, but keeps no agent from the moves of its workflow", async () => {
  const text = `
version: 1
roles: { worker: { harness: any, mode: turn, permissions: reduced, prompt: p } }
prompts: { p: Brew }
states:
  todo: { waits_for: human, next: busy }
  busy: { agent: { role: worker }, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, by: [worker, human], hooks: [release_workspace] }
`;
  const ports = { performers: () => ({ spawn_agent: async () => {} }) };
  const { core, create, goOn, git, until } = await startGitCore({ name: "unmerged", flow: text, ports });
  await create("b1111");
  const { workspace } = await goOn("b1111");
  writeFileSync(join(workspace, "cup.md"), "full\n");
  git(workspace, "add", "cup.md");
  git(workspace, "commit", "-qm", "cup");
  const move = createHandlers(core).moveTask as unknown as (asked: unknown) => Promise<unknown>;
  const asked = { params: { task: "b1111" }, body: { to: "done" }, query: {}, folder: "", lastEvent: "" };
  await expect(move({ ...asked, caller: { kind: "human" } })).rejects.toMatchObject({
    reasons: [{ code: "unmerged" }],
  });
  const credential = { task: "b1111", role: "worker", run: "worker#1" };
  const answer = await move({ ...asked, caller: { kind: "run", credential, isOver: false } });
  expect(answer).toMatchObject({ kind: "moved", from: "busy" });
  expect(await until("b1111", ({ isOpen }) => !isOpen)).toMatchObject({ status: "done" });
});

const starting = `
version: 1
roles: { worker: { prompt: go } }
prompts: { go: Brew. }
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - from: todo
    to: busy
    hooks: [acquire_workspace, { action: spawn_agent, role: worker }, { action: run_command, command: [x] }, post_comment]
  - { from: any, to: done, by: human, hooks: [release_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

/** A task whose workspace is being acquired; `release` interrupts that once, and the next try succeeds. */
async function startingStage() {
  const begun: string[] = [];
  const state = { release: () => {} };
  const note = (name: string) => [name, async () => void begun.push(name)] as const;
  const performers = {
    ...Object.fromEntries(["spawn_agent", "run_command", "post_comment", "release_workspace"].map(note)),
    acquire_workspace: async () => {
      begun.push("acquire_workspace");
      if (begun.length > 1) return;
      await new Promise<void>((_, reject) => {
        state.release = () => reject(new Fault("command.stopped", "It was stopped.", { retry: "later" }));
      });
    },
  };
  const stage = await coreStage(starting, 1, undefined, () => ({ performers: () => performers }));
  await stage.create("t1");
  await stage.rest();
  await stage.core.submit("t1", { kind: "continue", actor: human });
  await stage.rest();
  return { ...stage, begun, state };
}

test("a task that is cancelled while its workspace is made starts nothing more; its final effects are carried out", async () => {
  const { core, begun, state, store, rest, statuses } = await startingStage();
  await core.submit("t1", { kind: "move", to: "dropped", actor: human });
  state.release();
  await rest(1_000);
  expect(begun).toEqual(["acquire_workspace", "post_comment", "release_workspace"]);
  expect(await statuses("t1")).toEqual(["dropped"]);
  const task = (await store.getTask("t1"))?.task;
  expect([task?.phase, task?.held]).toEqual(["over", undefined]);
  await core.close();
});

test("a task that a person moves to done meanwhile starts no agent, but carries out the effects of its work", async () => {
  const { core, begun, state, rest } = await startingStage();
  await core.submit("t1", { kind: "move", to: "done", actor: human });
  state.release();
  await rest(1_000);
  const acquired = ["acquire_workspace", "acquire_workspace"];
  expect(begun).toEqual([...acquired, "run_command", "post_comment", "release_workspace"]);
  await core.close();
});

test("a cancelled task does not wait for the retry of an effect that it no longer needs", async () => {
  const { core, begun, state, store, rest } = await startingStage();
  state.release();
  await rest();
  expect((await store.openEffects("t1"))[0]).toMatchObject({ tries: 1 });
  await core.submit("t1", { kind: "move", to: "dropped", actor: human });
  await rest();
  expect(begun.at(-1)).toBe("release_workspace");
  await core.close();
});

test("deleting a task whose last effects are still being carried out is refused with the reason", async () => {
  const { core, state, rest } = await startingStage();
  const handlers = createHandlers(core) as Record<string, (asked: unknown) => Promise<never>>;
  const asked = { params: { task: "t1" }, body: {}, query: {}, caller: { kind: "human" }, folder: "", lastEvent: "" };
  await expect(handlers.deleteTask?.(asked)).rejects.toMatchObject({
    hint: "Cancel it first: signalbox task cancel t1",
  });
  await core.submit("t1", { kind: "move", to: "dropped", actor: human });
  await expect(handlers.deleteTask?.(asked)).rejects.toMatchObject({
    message: expect.stringMatching(
      /^The task t1 has ended in "dropped"\. .*still being carried out: .*release_workspace/,
    ),
    hint: "See what the task waits for: signalbox task explain t1",
  });
  state.release();
  await rest(1_000);
  await core.close();
});
