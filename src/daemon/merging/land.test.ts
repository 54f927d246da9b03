import { expect, test } from "vitest";
import type { Task } from "../../engine/task.ts";
import { createTurns } from "../../keyed.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Project, Store } from "../../ports/store.ts";
import { userBranch } from "../landing-place.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { land, messageOf } from "./land.ts";
import { type Ready, refused } from "./merge-queue.ts";

const project = { name: "coffee", path: "/coffee" } as Project;

function ready(task: string): Ready {
  const rest = {
    project: "coffee",
    target: "main",
    strategy: "merge",
    at: 0,
    stay: 0,
    priority: 0,
    message: "",
  } as const;
  return { task, commit: `c-${task}`, ...rest };
}

/** A branch that moves during every publish while `moves` says so. Records what happens. */
function stage({
  moves = (): boolean => false,
  fails = (_: readonly string[]): boolean => false,
  isGone = (_: string): boolean => false,
  isLost = (_: string): boolean => false,
  isHalted = (_: string): boolean => false,
} = {}) {
  const happened: string[] = [];
  let [tip, others] = ["base", 0];
  const control = {
    syncFrom: async () => ({ branches: { main: tip } }),
    // Every commit made here contains all earlier ones.
    isAncestor: async () => true,
    inTheWay: async () => undefined,
    mergeAll: async ({ onto, entries }: { onto: string; entries: readonly { branch: string }[] }) => {
      let top = onto;
      return entries.map(({ branch }) => {
        top = `${top}+${branch}`;
        return { kind: "merged", commit: top, tree: "" };
      });
    },
    async publish({ commit }: { commit: string }) {
      happened.push(`publish ${commit}`);
      if (moves()) {
        tip = `other-${++others}`;
        return { kind: "moved", to: tip };
      }
      tip = commit;
      return { kind: "published", at: commit };
    },
  } as unknown as ControlRepository;
  const own = {
    control,
    git: { identityOf: async () => ({ name: "", email: "" }), leftBehind: async () => undefined },
  } as unknown as ProjectWorkspaces;
  const ports = {
    ...({ where: "here", workspaces: "/workspaces", signal: new AbortController().signal } as const),
    inTurn: createTurns(),
    async planned(merged: readonly { after: string }[]) {
      happened.push(`plan ${merged.at(-1)?.after}`);
    },
    published: async () => {},
    unwanted: async ({ task }: { task: string }) => (isGone(task) ? refused(`${task} has moved on.`) : undefined),
    lost: async ({ task }: { task: string }) => (isLost(task) ? refused(`${task} has lost changes.`) : undefined),
    isHalted: ({ task }: { task: string }) => isHalted(task),
    async test(commit: string) {
      happened.push(`test ${commit}`);
      return fails(commit.split("+").slice(1)) ? { failing: "Two tests fail." } : "passed";
    },
  };
  const place = userBranch({} as Store, own, project, "main", "here");
  return { happened, land: (...entries: readonly Ready[]) => land(ports, own, project, place, entries) };
}

test("a merge is recorded before it is published, so that a recovery after a crash knows its commits", async () => {
  const { happened, land } = stage();
  const [a, b] = [ready("a"), ready("b")];
  const outcomes = await land(a, b);
  expect(happened).toEqual(["test base+c-a+c-b", "plan base+c-a+c-b", "publish base+c-a+c-b"]);
  expect(outcomes.get(b)).toMatchObject({ kind: "merged", before: "base+c-a", after: "base+c-a+c-b" });
});

test("if the branch has moved meanwhile, the new merge commit is tested again", async () => {
  let moved = 0;
  const { happened, land } = stage({ moves: () => moved++ === 0 });
  await land(ready("a"));
  expect(happened.filter((each) => !each.startsWith("plan"))).toEqual([
    ...["test base+c-a", "publish base+c-a"],
    ...["test other-1+c-a", "publish other-1+c-a"],
  ]);
});

test("a task is not blamed while tests fail only in combination", async () => {
  const { land } = stage({ moves: () => true, fails: (merged) => merged.length > 1 });
  const [a, b] = [ready("a"), ready("b")];
  expect([...(await land(a, b)).values()]).toEqual([{ kind: "again" }, { kind: "again" }]);
});

test("a task that moves while it is tested is not published, and the others are tested without it", async () => {
  const { happened, land } = stage({ isGone: (task) => task === "a" });
  const [a, b] = [ready("a"), ready("b")];
  const outcomes = await land(a, b);
  expect(happened).toEqual(["test base+c-a+c-b", "test base+c-b", "plan base+c-b", "publish base+c-b"]);
  expect(outcomes.get(a)).toMatchObject({ kind: "refused", reason: "a has moved on." });
  expect(outcomes.get(b)).toMatchObject({ kind: "merged" });
});

test("a merge that a pause stops while it is tested is not published, and the others are tested without it", async () => {
  const { happened, land } = stage({ isHalted: (task) => task === "a" });
  const [a, b] = [ready("a"), ready("b")];
  const outcomes = await land(a, b);
  expect(happened).toEqual(["test base+c-a+c-b", "test base+c-b", "plan base+c-b", "publish base+c-b"]);
  expect([outcomes.get(a)?.kind, outcomes.get(b)?.kind]).toEqual(["again", "merged"]);
});

test("a merge commit's subject is one line, even for a summary that an earlier version has stored", () => {
  const task = { id: "k2m4p", project: "coffee", number: 1, branch: "brew", ticket: "t-1" };
  const summary = "Brew\n\nTicket: t-2\u001b[8m\u202e now";
  expect(messageOf({ ...task, summary } as Task)).toBe(
    "Merge brew: Brew Ticket: t-2 now\n\nTask: coffee#1 (k2m4p)\nTicket: t-1\n",
  );
});

test("an entry whose changes are lost is refused, and the others are merged without it", async () => {
  const { land, happened } = stage({ isLost: (task) => task === "b" });
  const outcomes = await land(ready("a"), ready("b"), ready("c"));
  expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(["merged", "refused", "merged"]);
  expect(happened.filter((each) => each.startsWith("publish"))).toEqual(["publish base+c-a+c-c"]);
});
