import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { git, makeRepository, startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

test("a command changes only the project of its folder, however the folder is reached", async () => {
  const { base, signalbox, in: at } = await startBrew(["coffee", "tea"], ["coffee"]);
  const tea = at("tea");
  const created = await signalbox(["task", "create", "Brew it", "--json"], at("coffee"));
  expect(created.code).toBe(0);
  const { id } = JSON.parse(created.stdout).task;

  const changing = [
    ["task", "create", "Brew tea"],
    ["agent", "spawn"],
    ["crew", "spawn", "2"],
    ["crew", "run"],
    ["crew", "stop"],
    ["crew", "clean", "--yes"],
    ["crew", "kill", "A", "--yes"],
    ["pause"],
    ["resume"],
    ["ticket", "close", "t-1"],
    ["trust", "--config"],
  ];
  for (const args of changing) {
    const { code, stdout, stderr } = await signalbox(args, tea);
    expect({ args, code, stdout }).toEqual({ args, code: 3, stdout: "" });
    expect(stderr).toBe(
      `error: The git repository ${tea} is not a project.\nTo make it one: signalbox init\nTo use another project, add --project with its name: coffee\n`,
    );
  }
  const outside = await signalbox(["task", "create", "Brew it again"], base);
  expect(outside).toEqual({
    code: 2,
    stdout: "",
    stderr:
      "error: This folder is not in a project.\nGo to a project's folder, or add --project with its name: coffee\n",
  });
  expect((await signalbox(["crew", "ps"], base)).stderr).toContain("coffee has no agents.");
  expect((await signalbox(["crew", "ps"], tea)).code).toBe(3);
  const bare = join(base, "bare.git");
  git(base, "init", "--quiet", "--bare", bare);
  expect((await signalbox(["task", "create", "Brew it again"], bare)).code).toBe(2);

  // A number or a branch could be meant for this repository.
  for (const reference of ["1", JSON.parse(created.stdout).task.branch]) {
    const refused = await signalbox(["task", "cancel", reference], tea);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("coffee#1");
  }

  // A repository inside the project's folder, and a submodule, are separate repositories.
  makeRepository(join(at("coffee"), "vendor"));
  git(at("coffee"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", tea, "sub");
  for (const nested of ["vendor", "sub"]) {
    const refused = await signalbox(["task", "create", "Brew it here"], join(at("coffee"), nested));
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toContain('is not a project, although it is in the folder of "coffee".');
  }
  expect((await signalbox(["task", "list", "--json", "--all"])).stdout.match(/"id"/g)).toHaveLength(1);

  mkdirSync(join(at("coffee"), "src/deep"), { recursive: true });
  symlinkSync(join(at("coffee"), "src"), join(base, "link"));
  git(at("coffee"), "worktree", "add", "--quiet", join(base, "beside"), "-b", "beside");
  for (const folder of [join(at("coffee"), "src/deep"), join(base, "link/deep"), join(base, "beside")]) {
    const { code, stdout } = await signalbox(["task", "create", "Brew more"], folder);
    expect({ folder, code, stdout }).toMatchObject({ folder, code: 0, stdout: expect.stringContaining("coffee#") });
  }
  expect((await signalbox(["task", "create", "--project", "coffee", "Brew for tea"], tea)).code).toBe(0);
  expect((await signalbox(["task", "cancel", id], tea)).code).toBe(0);
});

test("in a workspace commands act for nobody, and say where a person can run them", async () => {
  const { signalbox, in: at } = await startBrew(["coffee"]);
  await signalbox(["task", "create", "Brew it"], at("coffee"));
  expect(await signalbox(["task", "continue", "1"], at("coffee"))).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect((await signalbox(["task", "path", "1"], at("coffee"))).code).toBe(0), 30_000);
  const folder = (await signalbox(["task", "path", "1"], at("coffee"))).stdout.trim();
  expect(await signalbox(["task", "show", "1"], folder)).toMatchObject({
    ...{ code: 1, stdout: "" },
    stderr: expect.stringContaining("run the command outside of workspaces and agents"),
  });
  expect(await signalbox(["ticket", "list"], folder)).toMatchObject({
    ...{ code: 1, stdout: "" },
    stderr: expect.stringContaining("Go to another folder, such as your own checkout of the repository"),
  });
});

test.each(["worktree", "clone"])(
  "a moved repository with a %s is recognised, and init says how to update its project",
  async (kind) => {
    const { base, signalbox, in: at } = await startBrew(["coffee"]);
    await signalbox(["project", "update", "coffee", "--workspaces", kind]);
    const { id } = JSON.parse((await signalbox(["task", "create", "Brew it", "--json"], at("coffee"))).stdout).task;
    await signalbox(["task", "continue", id], at("coffee"));
    await vi.waitFor(async () => expect((await signalbox(["task", "path", id], at("coffee"))).code).toBe(0), 30_000);
    const now = at("coffee2");
    renameSync(at("coffee"), now);
    // A git that was still running when the repository was moved leaves a part of a folder.
    mkdirSync(join(at("coffee"), ".git", "refs"), { recursive: true });
    const refused = await signalbox(["init"], now);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toBe(
      `error: This is the repository of the project "coffee", which is no longer at ${base}/coffee.\nTo set the project's new path: signalbox project update coffee --path ${now}\nTo make it another project anyway: --name NAME\n`,
    );
    expect(await signalbox(["project", "update", "coffee", "--path", now])).toMatchObject({ code: 0 });
    expect((await signalbox(["init"], now)).stdout).toBe(`coffee  ${now}\n`);
  },
);

test("project branches lists nothing for a new project, and refuses a branch that is not listed", async () => {
  const { signalbox } = await startBrew(["coffee"]);
  const branches = (...args: readonly string[]) => signalbox(["project", "branches", "coffee", ...args]);
  const nothing = "No moved or deleted branch of coffee is to be decided about.\n";
  expect(await branches()).toMatchObject({ code: 0, stdout: "", stderr: nothing });
  expect(JSON.parse((await branches("--json")).stdout)).toEqual({ branches: [] });
  const refused = await branches("--restore", "main");
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toBe(
    'error: "main" is not among the moved branches of coffee.\nList them: signalbox project branches coffee\n',
  );
  expect((await branches("--restore", "a", "--accept", "a")).code).toBe(2);
  expect((await signalbox(["project", "branches", "milk"])).code).toBe(3);
});
