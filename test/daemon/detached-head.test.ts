import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gitStage } from "./upkeep-stage.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: judged }
  judged: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: judged, gate: { section: "## Handoff", fields: [DONE] } }
  - { from: judged, to: done, by: human, when: merged == true }
`;

describe.each(["worktree", "clone"] as const)("a %s on no branch", (kind) => {
  async function atWork() {
    const stage = await gitStage(flow);
    await stage.store.updateProject("coffee", { workspaces: kind });
    await stage.create("b1111");
    const { workspace } = await stage.move("b1111", "busy");
    const git = (...args: readonly string[]) => stage.git(workspace, ...args);
    const commit = (name: string, text = "full\n") => {
      writeFileSync(join(workspace, name), text);
      git("add", name);
      git("commit", "-qm", name);
      return git("rev-parse", "HEAD");
    };
    const { control } = await stage.workspaces();
    const look = async () => stage.core.look((await stage.store.getTask("b1111"))?.task as never);
    const handOff = async () => {
      const request = { kind: "move", to: "judged", actor: { role: "human" } } as const;
      return (await stage.core.submit("b1111", request, "## Handoff\nDONE: coffee\n")).decision;
    };
    /** Exactly one, however often the facts are gathered. */
    const isSalvaged = async (head: string) => {
      const [saved, ...more] = await control.listSalvaged();
      return more.length === 0 && saved !== undefined && (await control.isAncestor(head, saved.commit));
    };
    return { ...stage, workspace, here: git, commit, isSalvaged, look, handOff };
  }

  test("its commits are salvaged, the handoff is refused with a command, and that command works", async () => {
    const { here, commit, isSalvaged, look, handOff, workspace } = await atWork();
    commit("cup.md");
    here("checkout", "-q", "--detach");
    const head = commit("milk.md");
    expect((await look()).facts.numbers).toMatchObject({ workspace: 1, commits: 1, merged: 0 });
    expect(await isSalvaged(head)).toBe(true);
    const refused = await handOff();
    const fix = "Move them there: git switch -C signalbox/b1111. Then ask again.";
    const text = `${workspace} is on no branch (detached HEAD), so its newest commits are not on "signalbox/b1111".`;
    expect(refused).toMatchObject({ kind: "rejected", reasons: [{ text, fix }] });
    here("switch", "-qC", "signalbox/b1111");
    expect((await look()).facts).toMatchObject({ head, numbers: { commits: 2 } });
    expect(await handOff()).toMatchObject({ kind: "moved" });
  });

  test("commits that have diverged from the branch are merged into it", async () => {
    const { here, commit, look, handOff } = await atWork();
    here("checkout", "-q", "--detach");
    const head = commit("milk.md");
    here("switch", "-q", "signalbox/b1111");
    commit("cup.md");
    here("checkout", "-q", head);
    const { troubles } = await look();
    expect(troubles[0]?.fix).toContain(`git switch signalbox/b1111 && git merge ${head}. `);
    here("switch", "-q", "signalbox/b1111");
    here("merge", "-q", "--no-edit", head);
    expect((await look()).facts.numbers.commits).toBe(3);
    expect(await handOff()).toMatchObject({ kind: "moved" });
  });

  test("a detached HEAD without commits of its own causes no trouble", async () => {
    const { here, commit, look, handOff } = await atWork();
    const head = commit("cup.md");
    here("checkout", "-q", "--detach", "HEAD~1");
    expect((await look()).facts).toMatchObject({ head, numbers: { commits: 1, merged: 0 } });
    expect(await handOff()).toMatchObject({ kind: "moved" });
  });

  test("if the task's branch was deleted too, explain and the merge give the command that recreates it", async () => {
    const { here, commit, look, handOff, ask, workspace } = await atWork();
    const head = commit("cup.md");
    expect(await handOff()).toMatchObject({ kind: "moved" });
    here("checkout", "-q", "--detach");
    here("branch", "-qD", "signalbox/b1111");
    await look();
    const text = `${workspace} is on no branch, and its branch "signalbox/b1111" was deleted.`;
    const fix = `Go back to the task's branch, with what was committed: git -C ${workspace} switch -C signalbox/b1111`;
    const { blocked } = (await ask("explainTask", {}, { task: "b1111" })) as { blocked: readonly object[] };
    expect(blocked).toContainEqual({ reason: text, fix });
    const refused = (await ask("mergeTask", {}, { task: "b1111" })) as { state: string; reason: string };
    expect(refused).toMatchObject({ state: "refused", reason: `${text} ${fix}` });
    here(...fix.slice(fix.indexOf("switch -C")).split(" "));
    expect(await ask("mergeTask", {}, { task: "b1111" })).toMatchObject({ state: "merged", commit: head });
  });

  test("a deleted branch is recreated at its last commit, and diverged commits are merged into it", async () => {
    const { here, commit, look, handOff, ask } = await atWork();
    commit("cup.md");
    expect(await handOff()).toMatchObject({ kind: "moved" });
    here("checkout", "-q", "--detach", "HEAD~1");
    here("branch", "-qD", "signalbox/b1111");
    const head = commit("milk.md");
    const { troubles } = await look();
    const { reason } = (await ask("mergeTask", {}, { task: "b1111" })) as { reason: string };
    const commands = reason.slice(reason.indexOf(": git") + 2).split(" && ");
    expect(commands.at(-1)).toMatch(new RegExp(`merge ${head}$`));
    expect(troubles[0]?.fix).toContain(commands.map((each) => each.replace(/ -C \S+/, "")).join(" && "));
    for (const each of commands) here(...each.split(" ").slice(3));
    expect(await ask("mergeTask", {}, { task: "b1111" })).toMatchObject({ state: "merged" });
  });

  test("during a stopped rebase the task's work is that of its branch", async () => {
    const { here, commit, look, handOff } = await atWork();
    const [first, last] = [commit("cup.md", "a\n"), commit("cup.md", "b\n")];
    here("checkout", "-q", "--detach", "HEAD~2");
    const other = commit("cup.md", "c\n");
    here("switch", "-q", "signalbox/b1111");
    expect(() => here("rebase", "-q", other)).toThrow();
    expect(first).not.toBe(last);
    expect((await look()).facts).toMatchObject({ head: last, numbers: { commits: 2 } });
    const [reason] = ((await handOff()) as { reasons?: readonly { text: string; fix: string }[] }).reasons ?? [];
    expect(reason?.text).toContain("A rebase is under way");
    expect(reason?.fix).toBe("End it there: git rebase --continue, or git rebase --abort. Then ask again.");
    here("rebase", "--abort");
    expect(await handOff()).toMatchObject({ kind: "moved" });
  });

  test("its commits are found again after the folder was deleted", async () => {
    const { here, commit, look, isSalvaged, workspace } = await atWork();
    here("checkout", "-q", "--detach");
    const head = commit("milk.md");
    await look();
    rmSync(workspace, { recursive: true });
    await look();
    expect(await isSalvaged(head)).toBe(true);
  });
});
