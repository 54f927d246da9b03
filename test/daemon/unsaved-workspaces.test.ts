import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ExplanationView } from "../../src/api/tasks.ts";
import type { WorkspaceView } from "../../src/api/workspaces.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { type GitStage, human, startGitStage } from "./git-stage.ts";

const kinds = ["worktree", "clone"] as const;

/** A task with a collected commit and a file that is not committed, and the notes that a person gets. */
async function startBreaking(kind: (typeof kinds)[number]) {
  const told: string[] = [];
  const stage: GitStage = await startGitStage({
    ports: {
      performers: () => ({
        notify: async ({ params }) => void told.push(String(params.message)),
      }),
    },
  });
  await stage.store.updateProject("coffee", { workspaces: kind });
  const { workspace } = await stage.begin("b1111");
  writeFileSync(join(workspace, "cup.md"), "full\n");
  stage.git(workspace, "add", "cup.md");
  stage.git(workspace, "commit", "-qm", "cup");
  const handlers = createHandlers(stage.core);
  const ask = async <T>(route: keyof typeof handlers, params: object = {}, body: object = {}) =>
    (await handlers[route]?.(
      { params, query: {}, body, caller: { kind: "human" }, folder: "" } as never,
      {} as never,
    )) as T;
  const explain = (task: string) => ask<ExplanationView>("explainTask", { task });
  await explain("b1111");
  writeFileSync(join(workspace, "keep.md"), "keep\n");
  const head = stage.git(workspace, "rev-parse", "--absolute-git-dir");
  return {
    ...{ ...stage, workspace, told, ask, explain },
    gitFolder: head,
    list: async () => (await ask<{ workspaces: WorkspaceView[] }>("listWorkspaces")).workspaces,
    gc: async () => (await ask<{ done: { what: string; path: string; reason: string }[] }>("cleanWorkspaces")).done,
    check: async () => (await ask<{ unsaved: { path: string; reason: string; fix: string }[] }>("check")).unsaved,
    history: async (id: string) =>
      (await stage.store.listEvents({ task: id }, 0, 1_000)).map(({ event }) => JSON.stringify(event.data)).join("\n"),
  };
}

type Breaking = Awaited<ReturnType<typeof startBreaking>>;

/** In the middle of a merge, a HEAD is not mended: nobody knows where it was. */
function breakHead({ git, workspace, gitFolder }: Breaking): void {
  writeFileSync(join(gitFolder, "MERGE_HEAD"), `${git(workspace, "rev-parse", "HEAD")}\n`);
  writeFileSync(join(gitFolder, "HEAD"), "garbage\n");
}

const elsewhere = ({ base }: Breaking) => join(base, "elsewhere");

const damages: readonly (readonly [string, (stage: Breaking) => void, (stage: Breaking, aside: string) => void])[] = [
  ["an unreadable HEAD", breakHead, (_, aside) => expect(readFileSync(join(aside, "keep.md"), "utf8")).toBe("keep\n")],
  [
    "a link in its place",
    (stage) => {
      renameSync(stage.workspace, elsewhere(stage));
      symlinkSync(elsewhere(stage), stage.workspace);
    },
    (stage, aside) => {
      expect(lstatSync(aside).isSymbolicLink()).toBe(true);
      expect(readFileSync(join(elsewhere(stage), "keep.md"), "utf8")).toBe("keep\n");
    },
  ],
];

for (const kind of kinds) {
  for (const [what, damage, isKept] of damages) {
    test(`${kind}: a workspace with ${what} is set aside when it is released, a person is told, and the next task gets a new one`, async () => {
      const stage = await startBreaking(kind);
      const { workspace, told, explain, list, gc, check, history, until } = stage;
      damage(stage);
      await stage.move("b1111", "dropped");
      await until("b1111", ({ isOpen }) => !isOpen);
      const aside = `${workspace}-left-b1111`;
      isKept(stage, aside);
      expect(told).toHaveLength(1);
      expect(told[0]).toContain(aside);
      expect((await explain("b1111")).blocked[0]?.reason).toContain(aside);
      expect(await history("b1111")).toContain(aside);
      expect(await check()).toMatchObject([{ path: aside, fix: expect.stringContaining("signalbox workspace gc") }]);
      expect((await list()).find(({ path }) => path === aside)).toMatchObject({ isUnsaved: true, state: "broken" });
      expect((await gc()).find(({ path }) => path === aside)).toMatchObject({ what: "keep" });

      const next = await stage.begin("b2222");
      expect(next).toMatchObject({ status: "busy", workspace });
      expect(next.held).toBeUndefined();
      expect(readdirSync(workspace)).toContain("recipe.md");
      expect(existsSync(join(workspace, "keep.md"))).toBe(false);
      isKept(stage, aside);
      expect(told).toHaveLength(1);

      // The advice: delete it, and clean up.
      rmSync(aside, { recursive: true });
      expect(await check()).toEqual([]);
      expect((await gc()).find(({ path }) => path === aside)).toMatchObject({ what: "remove" });
      expect((await list()).map(({ path }) => path)).toEqual([workspace]);
      expect((await explain("b1111")).blocked).toEqual([]);
    });

    test(`${kind}: a task whose workspace has ${what} goes on in a new one after a respawn, with its last collected commit`, async () => {
      const stage = await startBreaking(kind);
      const { core, workspace, git, until, explain, told } = stage;
      damage(stage);
      expect((await explain("b1111")).blocked[0]?.fix).toContain("signalbox task respawn b1111");
      await core.submit("b1111", { kind: "respawn", actor: human });
      await expect.poll(async () => (await core.store.openEffects("b1111")).length, { timeout: 30_000 }).toBe(0);
      expect(git(workspace, "log", "-1", "--format=%s")).toBe("cup");
      expect(git(workspace, "branch", "--show-current")).toBe("signalbox/b1111");
      const aside = `${workspace}-left-b1111`;
      isKept(stage, aside);
      expect(told).toHaveLength(1);
      expect((await explain("b1111")).blocked.map(({ reason }) => reason).join()).toContain(aside);
      await stage.move("b1111", "dropped");
      await until("b1111", ({ isOpen }) => !isOpen);
      isKept(stage, aside);
    });
  }

  test(`${kind}: a folder that was set aside and repaired is saved by workspace gc`, async () => {
    const stage = await startBreaking(kind);
    const { workspace, git, gc, until, control } = stage;
    breakHead(stage);
    await stage.move("b1111", "dropped");
    await until("b1111", ({ isOpen }) => !isOpen);
    const aside = `${workspace}-left-b1111`;
    const gitFolder = kind === "clone" ? join(aside, ".git") : stage.gitFolder;
    writeFileSync(join(gitFolder, "HEAD"), "ref: refs/heads/signalbox/b1111\n");
    rmSync(join(gitFolder, "MERGE_HEAD"));
    expect(git(aside, "status", "--porcelain")).toContain("keep.md");
    expect((await gc()).find(({ path }) => path === aside)).toMatchObject({ what: "remove" });
    expect(existsSync(aside)).toBe(false);
    const [salvaged] = await (await control()).listSalvaged();
    expect(git((await control()).folder, "show", `${salvaged?.ref}:keep.md`)).toBe("keep");
  });

  test(`${kind}: a free workspace that was damaged is set aside, and the task that gets it starts in a new folder`, async () => {
    const stage = await startBreaking(kind);
    const { workspace, told, until, check } = stage;
    await stage.move("b1111", "dropped");
    await until("b1111", ({ isOpen }) => !isOpen);
    mkdirSync(elsewhere(stage));
    rmSync(workspace, { recursive: true });
    symlinkSync(elsewhere(stage), workspace);
    const next = await stage.begin("b2222");
    expect([next.status, next.workspace, next.held]).toEqual(["busy", workspace, undefined]);
    expect(told).toHaveLength(1);
    expect(await check()).toMatchObject([{ path: `${workspace}-left-free` }]);
    expect(readdirSync(elsewhere(stage))).toEqual([]);
  });
}

for (const kind of kinds) {
  test(`${kind}: a workspace whose commits git cannot read is set aside when it is released, and the next task gets a new one`, async () => {
    const stage = await startBreaking(kind);
    const { workspace, git, told, history, until } = stage;
    // Git can read the workspace, but its last commit names a file that does not exist.
    const tree = execFileSync("git", ["-C", workspace, "mktree", "--missing"], {
      input: `100644 blob ${"12345678".repeat(5)}\tmissing\n`,
      encoding: "utf8",
    }).trim();
    git(workspace, "update-ref", "HEAD", git(workspace, "commit-tree", "-p", "HEAD", "-m", "evil", tree));
    await stage.ask("cancelTask", { task: "b1111" });
    await until("b1111", ({ isOpen }) => !isOpen);
    const aside = `${workspace}-left-b1111`;
    expect(readFileSync(join(aside, "keep.md"), "utf8")).toBe("keep\n");
    expect(told).toHaveLength(1);
    expect(await history("b1111")).toContain(aside);
    const next = await stage.begin("b2222");
    expect(next).toMatchObject({ status: "busy", workspace });
    expect(existsSync(join(workspace, "keep.md"))).toBe(false);
  });
}
