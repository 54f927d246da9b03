import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExplanationView } from "../../src/api/tasks.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { gitStage } from "./upkeep-stage.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, by: human, when: merged == true }
`;

const breaks: Readonly<Record<string, (head: string) => void>> = {
  "is empty": (head) => writeFileSync(head, ""),
  "is garbled": (head) => writeFileSync(head, "\0\0nothing\n"),
  "is cut off": (head) => writeFileSync(head, "ref: refs/he"),
  "names a branch that does not exist": (head) => writeFileSync(head, "ref: refs/heads/nowhere\n"),
  "is made of zeros": (head) => writeFileSync(head, `${"0".repeat(40)}\n`),
};

describe.each(["worktree", "clone"] as const)("a %s whose HEAD", (kind) => {
  async function atWork() {
    const stage = await gitStage(flow);
    await stage.store.updateProject("coffee", { workspaces: kind });
    await stage.create("b1111");
    const { workspace } = await stage.move("b1111", "busy");
    const git = (...args: readonly string[]) => stage.git(workspace, ...args);
    const write = (name: string, text: string) => writeFileSync(join(workspace, name), text);
    write("cup.md", "full\n");
    git("add", "cup.md");
    git("commit", "-qm", "cup");
    const commit = git("rev-parse", "HEAD");
    const headFile = join(git("rev-parse", "--absolute-git-dir"), "HEAD");
    const { control } = await stage.workspaces();
    const look = async () => stage.core.look((await stage.store.getTask("b1111"))?.task as never);
    const explain = async () => {
      const asked = { params: { task: "b1111" }, query: {}, body: {}, caller: { kind: "human" } };
      return (await createHandlers(stage.core).explainTask?.(asked as never, {} as never)) as ExplanationView;
    };
    await look();
    return { ...stage, workspace, here: git, write, commit, headFile, control, look, explain };
  }

  for (const [how, breakHead] of Object.entries(breaks)) {
    test(`${how} is mended; files and index stay, and what was there is saved`, async () => {
      const { here, write, commit, headFile, control, look, workspace, store } = await atWork();
      write("cup.md", "half full\n");
      write("milk.md", "staged\n");
      here("add", "milk.md");
      write("milk.md", "later\n");
      const before = here("status", "--porcelain");
      breakHead(headFile);
      expect((await look()).facts).toMatchObject({ head: commit, numbers: { workspace: 1, commits: 1, dirty: 1 } });
      expect(readFileSync(headFile, "utf8")).toBe("ref: refs/heads/signalbox/b1111\n");
      expect(here("rev-parse", "HEAD")).toBe(commit);
      expect(here("status", "--porcelain")).toBe(before);
      expect(readFileSync(join(workspace, "cup.md"), "utf8")).toBe("half full\n");
      const [saved] = await control.listSalvaged();
      expect(saved).toBeDefined();
      const history = await store.listEvents({ task: "b1111" }, 0, 100);
      const mended = history.filter(({ event }) => event.type === "workspace.mended");
      expect(mended).toMatchObject([{ event: { data: { workspace, branch: "signalbox/b1111", commit } } }]);
      expect((await look()).facts).toMatchObject({ head: commit });
      expect((await control.listSalvaged()).length).toBe(1);
    });
  }

  test("is garbled together with its branch is mended at the last collected commit", async () => {
    const { here, commit, headFile, look, repository } = await atWork();
    const folder = kind === "clone" ? join(headFile, "..") : join(repository, ".git");
    writeFileSync(headFile, "nothing");
    writeFileSync(join(folder, "refs/heads/signalbox/b1111"), "nothing");
    expect((await look()).facts).toMatchObject({ head: commit, numbers: { workspace: 1, commits: 1 } });
    expect(here("rev-parse", "HEAD", "signalbox/b1111").split("\n")).toEqual([commit, commit]);
    expect(here("status", "--porcelain")).toBe("");
  });

  test("names its deleted branch is left alone, and explain says how to restore it", async () => {
    const { headFile, explain, look, repository, git } = await atWork();
    git(kind === "clone" ? join(headFile, "..") : repository, "update-ref", "-d", "refs/heads/signalbox/b1111");
    expect((await look()).facts.numbers).toMatchObject({ workspace: 0, commits: 1 });
    expect(JSON.stringify(await explain())).toContain("signalbox task respawn b1111");
  });
});
