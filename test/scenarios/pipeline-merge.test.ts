import { expect } from "vitest";
import type { ForgePace } from "../simulator/memory-forge.ts";
import { finds, type Life, scenario } from "./pipeline/stage.ts";

// What happens on the forge, or between the daemon's question and the forge's answer, by somebody else's hand.

const cold = { title: "It is cold", severity: "high", file: "cup.md", line: 3, evidence: "20 degrees" };
const isFixed = { judge: [finds(cold), finds({ id: "F1", state: "fixed" })] };
const hour = 3_600_000;

function forgeOf({ world }: Life) {
  return world.forge ?? expect.fail("There is no forge.");
}

/** Somebody merges the task's pull request on the forge. */
const mergeByHand = (life: Life) => forgeOf(life).mergeByHand(life.pull());

/** Does something once, before the forge does what it is asked, and lets it take half a minute. */
function while_(life: Life, what: Parameters<ForgePace["before"]>[0], act: () => Promise<unknown> | undefined) {
  const { pace } = forgeOf(life);
  pace.before = async (asked) => {
    if (asked !== what) return;
    pace.before = async () => {};
    void act()?.catch((error: unknown) => life.world.violate("acted", String(error)));
    await new Promise<void>((done) => void life.world.clock.after(30_000, done));
  };
}

async function comesToMerge(life: Life) {
  await life.spawn();
  await life.reaches("PR_HUMAN_REVIEW");
  await life.goOn();
  return life.reaches("MERGE_READY");
}

const ticket = ({ world }: Life) => world.tickets.files.get("cup-1.md") ?? "";
const pulls = (life: Life) => forgeOf(life).pulls.map(({ state }) => state);

for (const isNoticed of [false, true])
  scenario(
    `work of the fixer after somebody has merged the pull request on the forge is not done${isNoticed ? ", also where the daemon has noticed the merge" : ""}: the rest gets a pull request of its own`,
    { hasForge: true, ticket: "cup-1", turns: isFixed },
    async (life) => {
      await life.spawn();
      await life.isReviewed(1);
      await life.decide("approved", "F1");
      mergeByHand(life);
      if (isNoticed) await life.passes(hour);
      await life.goOn();
      await life.isReviewed(2);
      await life.goOn();
      await life.reaches("MERGE_READY");
      await life.goOn();
      const { held } = await life.isHeld();
      expect(held).toMatchObject({ word: "error" });
      expect(held?.reason).toMatch(
        /Pull request 1 was merged into "main" as \w+\. 1 commit of the task is not in "main"\./,
      );
      expect(held?.reason).toContain(`Open a pull request of the rest: signalbox task create-pr ${life.id}`);
      expect(life.merged()).not.toContain("FIXER.md");
      expect(ticket(life)).toContain("status: open");
      await life.does("openPullRequest");
      await life.goOn();
      await life.ends("DONE");
      expect(pulls(life)).toEqual(["merged", "merged"]);
      expect(life.merged()).toContain("FIXER.md");
      expect(ticket(life)).toContain("status: closed");
    },
  );

scenario(
  "a pull request whose base was changed on the forge is not merged there, and is once its base is the target again",
  { hasForge: true, ticket: "cup-1" },
  async (life) => {
    await comesToMerge(life);
    const pull = life.pull();
    const { remote } = life.world.repositories;
    remote.set("release", remote.get("main") ?? "");
    pull.wanted = { ...pull.wanted, base: "release" };
    await life.goOn();
    const { held } = await life.isHeld();
    expect(held).toMatchObject({ word: "unmergeable" });
    expect(held?.reason).toContain('Pull request 1 goes into "release", and the task\'s work into "main".');
    await life.passes(hour);
    expect(pulls(life)).toEqual(["open"]);
    pull.wanted = { ...pull.wanted, base: "main" };
    await life.goOn();
    await life.ends("DONE");
    expect(ticket(life)).toContain("status: closed");
  },
);

scenario(
  "work that somebody has merged into another branch on the forge is not done, and gets another pull request",
  { hasForge: true, ticket: "cup-1" },
  async (life) => {
    await comesToMerge(life);
    const pull = life.pull();
    const { remote } = life.world.repositories;
    remote.set("release", remote.get("main") ?? "");
    pull.wanted = { ...pull.wanted, base: "release" };
    mergeByHand(life);
    await life.goOn();
    expect((await life.isHeld()).held?.reason).toContain('The task\'s work goes into "main", and is not there.');
    await life.does("openPullRequest");
    await life.goOn();
    await life.ends("DONE");
    expect(life.merged()).toContain("IMPLEMENT.md");
  },
);

const brakes: readonly (readonly [name: string, does: (life: Life) => Promise<unknown>, status: string])[] = [
  ["cancels it", (life) => life.request("cancelTask", life.id), "CANCELLED"],
  ["sends it back", (life) => life.request("requestChanges", life.id, { text: "Stop.", to: "IMPLEMENT" }), "IMPLEMENT"],
];

for (const [name, does, status] of brakes) {
  scenario(
    `nothing is merged where a person ${name} while the forge is asked about the pull request`,
    { hasForge: true },
    async (life) => {
      await comesToMerge(life);
      while_(life, "statusOf", () => does(life));
      life.teach({ IMPLEMENT: [{ hangs: true }] });
      await life.goOn();
      await life.comesTo(life.id, status);
      await life.passes(hour / 6);
      const task = await life.now();
      expect({ status: task.status, held: task.held }).toEqual({ status, held: undefined });
      expect([pulls(life), life.merged()]).toEqual([["open"], ["recipe.md"]]);
    },
  );

  scenario(
    `a merge that comes through although a person ${name} meanwhile is in the history, and the person is told`,
    { hasForge: true },
    async (life) => {
      await comesToMerge(life);
      while_(life, "merge", () => does(life));
      life.teach({ IMPLEMENT: [{ hangs: true }] });
      await life.goOn();
      await life.comesTo(life.id, status);
      await life.passes(hour / 6);
      const task = await life.now();
      expect({ status: task.status, held: task.held }).toEqual({ status, held: undefined });
      expect(pulls(life)).toEqual(["merged"]);
      expect(await life.events(life.id, "pr.merged")).toHaveLength(1);
      const told = life.told().filter((text) => text.includes("Pull request 1 was merged"));
      expect(told).toEqual([expect.stringContaining("although the task had left MERGE_READY")]);
    },
  );
}

for (const now of [false, true])
  scenario(
    `a pause${now ? " with --now" : ""} while the forge is asked about the pull request stops the merge until the project is resumed`,
    { hasForge: true },
    async (life) => {
      await comesToMerge(life);
      while_(life, "statusOf", () => life.request("pause", "", { project: "coffee", now }));
      await life.goOn();
      await life.passes(hour / 6);
      const { status, held } = await life.now();
      expect({ status, held, pulls: pulls(life) }).toEqual({ status: "MERGE_READY", held: undefined, pulls: ["open"] });
      await life.ask("resume", "", { project: "coffee" });
      await life.ends("DONE");
    },
  );

scenario(
  "a finding that a person adds while the forge is asked about the pull request is dealt with before the merge",
  { hasForge: true },
  async (life) => {
    await comesToMerge(life);
    const body = { file: "cup.md", text: "It burns", severity: "critical" };
    life.teach({ judge: [finds({ id: "F1", state: "open" })] });
    while_(life, "statusOf", () => life.request("addFinding", life.id, body));
    await life.goOn();
    await life.isReviewed(2);
    expect([pulls(life), life.merged()]).toEqual([["open"], ["recipe.md"]]);
  },
);

for (const what of ["statusOf", "merge"] as const)
  scenario(
    `a commit that is made ${what === "merge" ? "while the forge merges" : "while the forge is asked about the pull request"} does not count as merged`,
    { hasForge: true },
    async (life) => {
      const { workspace } = await comesToMerge(life);
      while_(life, what, () => void life.write(workspace, { "late.md": "late" }));
      await life.goOn();
      await life.passes(hour / 6);
      const { outcome, status, held } = { outcome: undefined, ...(await life.now()) };
      expect([status, outcome]).not.toEqual(["DONE", "done"]);
      expect(life.merged()).not.toContain("late.md");
      expect(pulls(life)).toEqual([what === "merge" ? "merged" : "open"]);
      if (what === "merge") expect(held?.reason).toContain("1 commit of the task is not in");
    },
  );

scenario(
  "a commit that is made while the last tests run is not merged",
  { hasForge: true, turns: { DOC_REVIEW: [{ writes: { "guide.md": "a guide" } }] } },
  async (life) => {
    const { workspace } = await comesToMerge(life);
    const before = life.tested.length;
    await life.does("diffTask");
    void life.request("approveTask", life.id, { unreviewed: true });
    await life.until(async () => (life.tested.length > before ? true : undefined));
    life.write(workspace, { "late.md": "late" });
    await life.passes(hour / 6);
    expect((await life.now()).status).not.toBe("DONE");
    expect(life.merged()).not.toContain("late.md");
  },
);

for (const how of ["deletes its branch", "commits a suggestion first"] as const)
  scenario(
    `a task that waits for an approval is done where somebody merges its pull request and ${how}`,
    { hasForge: true, settings: { auto_merge: true }, ticket: "cup-1" },
    async (life) => {
      await life.spawn();
      await life.reaches("PR_HUMAN_REVIEW");
      await life.goOn();
      const { branch, held } = await life.isHeld();
      expect(held).toMatchObject({ word: "unapproved" });
      const { remote, commits } = life.world.repositories;
      const at = remote.get(branch) ?? "";
      if (how === "commits a suggestion first")
        remote.set(branch, commits.add([at], new Map([...commits.get(at).tree, ["more.md", "more"]]), "suggestion"));
      mergeByHand(life);
      if (how === "deletes its branch") remote.delete(branch);
      await life.ends("DONE");
      expect(life.merged()).toContain("IMPLEMENT.md");
      expect(ticket(life)).toContain("status: closed");
      if (how === "deletes its branch") expect(remote.has(branch)).toBe(false);
    },
  );

scenario(
  "a pull request that is closed and opened again is watched again: once somebody merges it, the task is done",
  { hasForge: true, settings: { auto_merge: true } },
  async (life) => {
    await life.spawn();
    await life.reaches("PR_HUMAN_REVIEW");
    await life.goOn();
    await life.isHeld();
    const pull = life.pull();
    pull.state = "closed";
    await life.passes(hour);
    expect(await life.events(life.id, "pr.closed")).toHaveLength(1);
    pull.state = "open";
    await life.passes(hour);
    mergeByHand(life);
    await life.ends("DONE");
  },
);
