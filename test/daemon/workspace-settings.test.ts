import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { startWorkspaceStage } from "./workspace-stage.ts";

const sh = (script: string) => ["sh", "-c", script];

describe("making a workspace", () => {
  test("copies untracked files, keeps the configured ones, and leases a port", async () => {
    const stage = await startWorkspaceStage();
    stage.put(join(stage.repository, ".env"), "KEY=1\n");
    stage.put(join(stage.repository, "certs", "ca.pem"), "pem\n");
    stage.say({ copy: [".env"], link: ["certs/*"], keep: ["vendor"], ports: "30000-30000" });
    const first = await stage.begin("b1111");
    expect(readFileSync(join(first.workspace, ".env"), "utf8")).toBe("KEY=1\n");
    expect(lstatSync(join(first.workspace, "certs", "ca.pem")).isSymbolicLink()).toBe(true);
    const [record] = await stage.store.workspaces.list({ task: "b1111" });
    expect(record).toMatchObject({ port: 30_000, kind: "clone", readyFor: "b1111" });
    mkdirSync(join(first.workspace, "vendor"));
    writeFileSync(join(first.workspace, "vendor", "x"), "kept");
    mkdirSync(join(first.workspace, "node_modules"));
    writeFileSync(join(first.workspace, "node_modules", "x"), "not kept");
    await stage.move("b1111", "dropped");
    const second = await stage.begin("b2222");
    expect(second.workspace).toBe(first.workspace);
    expect(existsSync(join(second.workspace, "vendor", "x"))).toBe(true);
    expect(existsSync(join(second.workspace, "node_modules"))).toBe(false);
    expect(stage.complaints).toEqual([]);
  });

  test("leases each port once, and none if none are configured", async () => {
    const stage = await startWorkspaceStage(3);
    stage.say({ ports: "30000-30001" });
    await Promise.all([stage.begin("b1111"), stage.begin("b2222")]);
    const bound = await stage.store.workspaces.list({ project: "coffee" });
    expect(bound.map(({ port }) => port).sort()).toEqual([30_000, 30_001]);
    stage.say({ ports: "" });
    await stage.begin("b3333");
    const [third] = await stage.store.workspaces.list({ task: "b3333" });
    expect(third?.port).toBeUndefined();
  });

  test("runs the setup once for each task, and not again for a repeated request", async () => {
    const stage = await startWorkspaceStage();
    const log = join(stage.base, "setups");
    stage.say({
      setup: sh(`echo "$SIGNALBOX_TASK $SIGNALBOX_PORT $SECRET." >>${log}; echo prepared`),
      testCommand: ["true"],
    });
    await stage.begin("b1111");
    expect(await stage.next("b1111")).toMatchObject({ status: "good" });
    writeFileSync(join((await stage.store.getTask("b1111"))?.task.workspace ?? "", "recipe.md"), "uncommitted\n");
    const again = await stage.move("b1111", "busy");
    expect(again).toMatchObject({ status: "busy", phase: "waiting" });
    expect(readFileSync(join(again.workspace, "recipe.md"), "utf8")).toBe("uncommitted\n");
    await stage.move("b1111", "dropped");
    await stage.begin("b2222");
    expect(readFileSync(log, "utf8")).toBe("b1111 20000 .\nb2222 20000 .\n");
    expect(readFileSync(join(stage.places.logs, "setup", "b1111.log"), "utf8")).toBe("prepared\n");
  });

  test("holds the task if the setup fails, with the end of its output, and runs it again after that", async () => {
    const stage = await startWorkspaceStage();
    stage.say({ setup: sh("echo half >leftover; echo no beans; exit 3") });
    const held = await stage.begin("b1111");
    expect(held.held?.reason).toMatch(
      /The setup command .* ended with 3\..*b1111\.log\.\n(.*\n)*no beans\n.*signalbox task retry b1111/,
    );
    stage.say({ setup: sh("test ! -e leftover && echo whole >made") });
    await stage.core.submit("b1111", { kind: "continue", actor: { role: "human" } });
    const task = await stage.until("b1111", ({ task }) => task.phase === "waiting");
    expect(readFileSync(join(task.workspace, "made"), "utf8")).toBe("whole\n");
  });

  test("runs the setup again if a crash prevented recording its end", async () => {
    const stage = await startWorkspaceStage();
    const log = join(stage.base, "setups");
    stage.say({ setup: sh(`echo setup >>${log}`), testCommand: ["true"] });
    await stage.begin("b1111");
    const [record] = await stage.store.workspaces.list({ task: "b1111" });
    if (record !== undefined) await stage.core.store.workspaces.put({ ...record, readyFor: "" });
    await stage.next("b1111");
    expect(await stage.move("b1111", "busy")).toMatchObject({ phase: "waiting" });
    expect(readFileSync(log, "utf8")).toBe("setup\nsetup\n");
  });

  test("runs the setup in a recreated folder, even if it failed there first", async () => {
    const stage = await startWorkspaceStage();
    stage.say({ setup: sh("echo whole >made"), testCommand: ["true"] });
    const { workspace } = await stage.begin("b1111");
    await stage.next("b1111");
    rmSync(workspace, { recursive: true });
    stage.say({ setup: sh("exit 3"), testCommand: ["true"] });
    expect((await stage.move("b1111", "busy")).held?.reason).toContain("The setup command");
    stage.say({ setup: sh("echo whole >made"), testCommand: ["true"] });
    await stage.core.submit("b1111", { kind: "continue", actor: { role: "human" } });
    await stage.until("b1111", ({ task }) => task.phase === "waiting");
    expect(readFileSync(join(workspace, "made"), "utf8")).toBe("whole\n");
  });
});

describe("a task that is cancelled while its workspace is made", () => {
  test("runs its setup once, and releases the workspace", async () => {
    const stage = await startWorkspaceStage();
    const log = join(stage.base, "setups");
    stage.say({ setup: sh(`echo setup >>${log}; sleep 600`) });
    await stage.create("b1111");
    await stage.core.submit("b1111", { kind: "continue", actor: { role: "human" } });
    await vi.waitFor(() => expect(existsSync(log)).toBe(true), 10_000);
    await stage.ask("cancelTask", {}, "b1111");
    expect(await stage.until("b1111", ({ isOpen }) => !isOpen)).toMatchObject({ status: "dropped", workspace: "" });
    expect(readFileSync(log, "utf8")).toBe("setup\n");
    expect(await stage.store.workspaces.list({ project: "coffee" })).toMatchObject([{ task: "" }]);
  });

  test("does not start the setup if the folder was still being made", async () => {
    const stage = await startWorkspaceStage();
    const log = join(stage.base, "setups");
    stage.say({ setup: sh(`echo setup >>${log}`) });
    await stage.create("b1111");
    await stage.core.submit("b1111", { kind: "continue", actor: { role: "human" } });
    await stage.ask("cancelTask", {}, "b1111");
    await stage.until("b1111", ({ isOpen }) => !isOpen);
    expect(existsSync(log)).toBe(false);
  });
});

describe("releasing a workspace", () => {
  test("runs the teardown first; its failure is recorded and does not keep the workspace", async () => {
    const stage = await startWorkspaceStage();
    stage.say({ teardown: sh("pwd; echo port $SIGNALBOX_PORT; exit 4") });
    const { workspace } = await stage.begin("b1111");
    expect(await stage.move("b1111", "dropped")).toMatchObject({ workspace: "", phase: "over" });
    expect(readFileSync(join(stage.places.logs, "teardown", "b1111.log"), "utf8")).toBe(`${workspace}\nport 20000\n`);
    const events = await stage.store.listEvents({ task: "b1111" }, 0, 100);
    const note = events.find(({ event }) => event.type === "effect.failed");
    expect(note?.event.data.reason).toContain("ended with 4");
    expect(await stage.store.workspaces.list({ project: "coffee" })).toMatchObject([{ task: "" }]);
  });
});

describe("a repository's own configuration", () => {
  test("may name files, but commands only once they are trusted, and none of them runs before", async () => {
    const stage = await startWorkspaceStage();
    const mark = join(stage.base, "ran");
    stage.put(join(stage.repository, ".env"), "KEY=1\n");
    stage.sayInRepository("copy: [.env]\n");
    const first = await stage.begin("b1111");
    expect(existsSync(join(first.workspace, ".env"))).toBe(true);
    await stage.move("b1111", "dropped");

    stage.sayInRepository(`copy: [.env]\nsetup: [touch, ${mark}]\n`);
    const held = await stage.begin("b2222");
    expect(held.held?.reason).toMatch(/names commands \(setup\).*\n.*signalbox trust --config --project coffee/);
    expect(existsSync(mark)).toBe(false);
    await stage.ask("trustConfig");
    await stage.until("b2222", ({ task }) => task.phase === "waiting" && task.held === undefined);
    expect(existsSync(mark)).toBe(true);

    stage.sayInRepository(`copy: [.env]\nteardown: [touch, ${mark}2]\n`);
    expect(await stage.move("b2222", "dropped")).toMatchObject({ workspace: "" });
    expect(existsSync(`${mark}2`)).toBe(false);
  });

  test("is read from the user's checkout, never from the workspace", async () => {
    const stage = await startWorkspaceStage();
    stage.say({ testCommand: ["false"] });
    const { workspace } = await stage.begin("b1111");
    stage.put(join(workspace, ".signalbox", "config.yml"), "test_command: ['true']\nrequire_tests: false\n");
    expect(await stage.next("b1111")).toMatchObject({ status: "busy" });
  });
});

describe("tests", () => {
  test("run in the workspace, and their failure reaches the engine with its output", async () => {
    const stage = await startWorkspaceStage();
    stage.say({ testCommand: sh("echo port $SIGNALBOX_PORT; echo 'not ok 1 - brews'; exit 1") });
    await stage.begin("b1111");
    const task = await stage.next("b1111");
    expect(task).toMatchObject({ status: "busy", reason: expect.stringContaining("not ok 1 - brews") });
    const file = /The whole output is in (\S+\/logs\/tests\/b1111-\d+\.log)\./.exec(task.reason)?.[1] ?? "";
    expect(readFileSync(file, "utf8")).toBe("port 20000\nnot ok 1 - brews\n");
  });

  test("are detected in the workspace if none are configured, may be required, and must be in the target's commits", async () => {
    const stage = await startWorkspaceStage(2);
    stage.say({ requireTests: true });
    const { workspace } = await stage.begin("b1111");
    expect((await stage.next("b1111")).reason).toContain("There must be tests");
    stage.put(join(workspace, "Makefile"), "test:\n\t@true\n");
    expect(await stage.next("b1111")).toMatchObject({
      status: "busy",
      reason: expect.stringContaining("does not have: Makefile"),
    });
    stage.put(join(stage.repository, "Makefile"), "test:\n\t@true\n");
    stage.git(stage.repository, "add", "Makefile");
    stage.git(stage.repository, "commit", "-qm", "tests");
    await stage.begin("b2222");
    expect(await stage.next("b2222")).toMatchObject({ status: "good" });
  });
});

describe("the kind of workspaces", () => {
  test("is the project's; bound workspaces keep theirs, free ones of the other kind are removed, and nothing is lost", async () => {
    const stage = await startWorkspaceStage(2, {}, "worktree");
    const first = await stage.begin("b1111");
    const second = await stage.begin("b2222");
    expect(lstatSync(join(first.workspace, ".git")).isFile()).toBe(true);
    await stage.move("b2222", "dropped");
    writeFileSync(join(second.workspace, "late.md"), "written after it was given back\n");
    await stage.core.store.updateProject("coffee", { workspaces: "clone" });

    const third = await stage.begin("b3333");
    expect(lstatSync(join(third.workspace, ".git")).isDirectory()).toBe(true);
    const kinds = async () =>
      Object.fromEntries(
        (await stage.store.workspaces.list({ project: "coffee" })).map((each) => [each.task, each.kind]),
      );
    expect(await kinds()).toEqual({ b1111: "worktree", b3333: "clone" });
    const refs = stage.git(
      await stage.control(),
      "for-each-ref",
      "--format=%(refname)",
      "refs/signalbox/salvage/free-2",
    );
    expect(stage.git(await stage.control(), "show", `${refs}:late.md`)).toBe("written after it was given back");

    writeFileSync(join(first.workspace, "work.md"), "of the old kind\n");
    stage.git(first.workspace, "add", "-A");
    stage.git(first.workspace, "commit", "-qm", "work");
    const tip = stage.git(first.workspace, "rev-parse", "HEAD");
    await stage.move("b1111", "dropped");
    expect(await kinds()).toEqual({ b3333: "clone" });
    expect(stage.git(await stage.control(), "rev-parse", "refs/signalbox/tasks/b1111")).toBe(tip);
    expect(stage.complaints).toEqual([]);
  });
});

describe("git settings of the repository", () => {
  test("are recorded at first use; a change holds the task until a person trusts it, and then the task continues", async () => {
    const stage = await startWorkspaceStage(2, {}, "worktree");
    const { workspace } = await stage.begin("b1111");
    expect((await stage.store.getProject("coffee"))?.obeyed?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    // An agent's attempt to run something in the user's repository.
    stage.git(workspace, "config", "core.fsmonitor", "touch /tmp/ran");
    const held = await stage.begin("b2222");
    expect(held.held?.reason).toMatch(
      /The configuration, hooks or attributes of \S+\/coffee have changed since you last trusted them: core\.fsmonitor\.\n.*signalbox project trust coffee/,
    );
    const refused = stage.core.submit("b1111", { kind: "continue", actor: { role: "human" } });
    await expect(refused).rejects.toMatchObject({ code: "project.changed" });

    stage.git(workspace, "config", "--unset", "core.fsmonitor");
    stage.git(stage.repository, "config", "pull.rebase", "true");
    const shown = (await stage.ask("projectChanges")) as { fingerprint: string; changes: unknown };
    expect(shown.changes).toEqual([{ name: "pull.rebase", change: "added" }]);
    await stage.ask("trustProject", { fingerprint: shown.fingerprint });
    await stage.until("b2222", ({ task }) => task.phase === "waiting" && task.held === undefined);
    expect(stage.complaints).toEqual([]);
  });

  test("also hold a task whose own tests have changed them, without losing the result of the tests", async () => {
    const stage = await startWorkspaceStage(1, {}, "worktree");
    stage.say({ testCommand: ["git", "config", "core.sshCommand", "touch x"] });
    await stage.begin("b1111");
    const held = await stage.next("b1111");
    expect(held).toMatchObject({ status: "checked", phase: "doing" });
    expect(held.held?.reason).toMatch(/^reading the workspace failed: The configuration.*core\.sshcommand/);
    const { fingerprint } = (await stage.ask("projectChanges")) as { fingerprint: string };
    await stage.ask("trustProject", { fingerprint });
    const task = await stage.until("b1111", ({ task }) => task.status === "good" && task.phase === "waiting");
    expect(task.held).toBeUndefined();
    expect(stage.complaints).toEqual([]);
  });

  test("do not include git's records of branches, nor concern clones", async () => {
    const stage = await startWorkspaceStage(3, {}, "worktree");
    await stage.begin("b1111");
    stage.git(stage.repository, "config", "branch.main.remote", "origin");
    expect(await stage.begin("b2222")).toMatchObject({ phase: "waiting" });
    await stage.core.store.updateProject("coffee", { workspaces: "clone" });
    stage.git(stage.repository, "config", "core.fsmonitor", "x");
    expect(await stage.begin("b3333")).toMatchObject({ phase: "waiting" });
  });
});

test("syncing fetches the user's branches and those of the remote, and moves nothing of the user's", async () => {
  const stage = await startWorkspaceStage();
  stage.say({ testCommand: ["true"] });
  const remote = join(stage.base, "remote.git");
  stage.git(stage.base, "clone", "-q", "--bare", stage.repository, remote);
  const other = join(stage.base, "other");
  stage.git(stage.base, "clone", "-q", remote, other);
  writeFileSync(join(other, "tea.md"), "leaves\n");
  stage.git(other, "add", "-A");
  stage.git(other, "commit", "-qm", "tea");
  stage.git(other, "push", "-q", "origin", "HEAD:main");
  stage.git(stage.repository, "remote", "add", "origin", `file://${remote}`);
  const before = stage.git(stage.repository, "rev-parse", "HEAD");
  await stage.begin("b1111");
  await stage.next("b1111");
  expect(await stage.move("b1111", "busy")).toMatchObject({ status: "busy", phase: "waiting" });
  const control = await stage.control();
  expect(stage.git(control, "rev-parse", "refs/remotes/origin/main")).toBe(stage.git(other, "rev-parse", "HEAD"));
  expect(stage.git(control, "rev-parse", "refs/remotes/user/main")).toBe(before);
  expect(stage.git(stage.repository, "for-each-ref", "refs/remotes")).toBe("");
  expect(existsSync(join(stage.repository, "tea.md"))).toBe(false);
  rmSync(other, { recursive: true });
});
