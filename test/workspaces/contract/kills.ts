import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { Fault } from "../../../src/fault.ts";
import { createKillingGit, createLots, untilDone } from "../killing-git.ts";
import { createScenes, type KindName, type Scene, statusOf } from "../stage.ts";

/** Few by default; a search for rare failures sets more. */
const rounds = Number(process.env.SIGNALBOX_KILLS ?? 12);
const seed = Number(process.env.SIGNALBOX_SEED ?? 1);

export function killContract(kind: KindName): void {
  const { open, stage } = createScenes(kind, "kills");

  /** Enough files that git can be killed while it writes them, and files of the user that must stay. */
  async function openLarge() {
    const user = stage.repository();
    user.commit(
      Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`many/${i % 20}/${i}.txt`, `${i}\n`.repeat(200)])),
    );
    const base = user.at("HEAD");
    user.commit({ "second.txt": "second\n", "many/1/1.txt": "changed\n" });
    const scene = await open({ user });
    const own = stage.path("own");
    user.git("worktree", "add", "--quiet", "-b", "own", own);
    scene.at(own).write("a.txt", "the user's own change\n");
    // The folder of another worktree is on an unmounted disk.
    const away = stage.path("away");
    user.git("worktree", "add", "--quiet", "--no-checkout", "-b", "away", away);
    rmSync(away, { recursive: true });
    user.write("b.txt", "the user's own change\n");
    return { ...scene, own, bases: [base, user.at("HEAD")] };
  }

  /** Nothing is lost, whatever was killed. */
  function checkOthers({ user, at }: Scene, own: string, tips: ReadonlyMap<string, string>): void {
    expect(at(own).read("a.txt")).toBe("the user's own change\n");
    expect(user.read("b.txt")).toBe("the user's own change\n");
    expect([statusOf(at(own)), statusOf(user)]).toEqual(["M a.txt", "M b.txt"]);
    expect(readdirSync(join(user.folder, ".git/worktrees"))).toContain(
      readdirSync(join(user.folder, ".git/worktrees")).find((name) => name.endsWith("away")),
    );
    if (kind === "worktree") for (const [branch, tip] of tips) expect(user.at(`refs/heads/${branch}`)).toBe(tip);
  }

  /** Works in the workspace as an agent, and saves the work as the daemon does. */
  async function work(scene: Scene, round: number, tips: Map<string, string>): Promise<string> {
    const { at, control, folder, kind } = scene;
    const branch = (await kind.currentBranch(folder)) ?? "";
    tips.set(branch, at().commit({ [`work-${round}.txt`]: `${round}\n` }));
    at().write("a.txt", `uncommitted ${round}\n`);
    at().write(`untracked-${round}.txt`, `untracked ${round}\n`);
    await control.collect({ folder, branch, task: "t1" });
    const { saved } = await control.salvage({ folder, task: `t${round}`, at: round + 1 });
    return saved?.commit ?? "";
  }

  test("git can be killed at any moment while a workspace is created or recycled", {
    timeout: 60_000 + rounds * 10_000,
  }, async () => {
    const scene = await openLarge();
    const { at, control, folder, own, bases, again, kind: whole } = scene;
    const killing = createKillingGit(stage.path("killing"));
    const lots = createLots(seed);
    const tips = new Map<string, string>();
    let killed = 0;
    for (let round = 0; round < rounds; round++) {
      const base = bases[round % 2] ?? "";
      const order = { folder, branch: `b/${round}`, base, existing: false, salvaged: round % 3 !== 0 };
      if (round % 3 === 0 && round > 0) {
        await whole.remove(folder, await control.salvage({ folder, task: "t", at: 1 }));
      } else if (round > 0) {
        const saved = await work(scene, round, tips);
        expect(Buffer.from((await control.fileAt(saved, "a.txt", 100)) ?? []).toString()).toBe(
          `uncommitted ${round}\n`,
        );
      }
      // The first call only prints git's version.
      killing.aim(2 + Math.floor(lots(3)), lots(20));
      const half = again({ program: killing.program });
      const isParked = round > 0 && order.salvaged && lots(2) < 1;
      const parking = { folder, at: "main", isFree: async () => true };
      await (isParked ? half.park(parking) : half.prepare(order)).catch((error) => {
        expect(error).toBeInstanceOf(Fault);
        killed += 1;
      });
      await untilDone(() => whole.prepare(order));
      tips.set(order.branch, base);
      expect(await whole.inspect(folder)).toMatchObject({
        kind: "there",
        branch: order.branch,
        head: base,
        dirty: false,
      });
      expect([statusOf(at()), at().read("a.txt"), at().read("many/1/1.txt")]).toEqual([
        ...["", "a\n"],
        round % 2 === 0 ? "1\n".repeat(200) : "changed\n",
      ]);
      expect(readdirSync(folder).filter((name) => /work|untracked/.test(name))).toEqual([]);
      checkOthers(scene, own, tips);
    }
    expect(killed).toBeGreaterThan(rounds / 6);
    expect(scene.user.git("fsck", "--no-dangling", "--connectivity-only")).toBe("");
    if (kind === "worktree") {
      const names = readdirSync(join(scene.user.folder, ".git/worktrees"));
      expect(names).toHaveLength(3);
      for (const name of names)
        expect(readdirSync(join(scene.user.folder, ".git/worktrees", name))).not.toContain("locked");
    }
  });

  test("the daemon can be killed at any moment while a workspace is created or recycled", {
    timeout: 60_000 + rounds * 10_000,
  }, async () => {
    const scene = await openLarge();
    const { at, control, folder, own, bases, trash, state, user, kind: whole } = scene;
    const lots = createLots(seed + 1000);
    const tips = new Map<string, string>();
    let killed = 0;
    for (let round = 0; round < rounds / 2; round++) {
      const base = bases[round % 2] ?? "";
      const order = { folder, branch: `b/${round}`, base, existing: false, salvaged: round % 4 !== 0 };
      if (round % 4 === 0 && round > 0) await whole.remove(folder, await control.salvage({ folder, task: "t", at: 1 }));
      else if (round > 0) await work(scene, round, tips);
      const options = { repository: user.folder, control: control.folder, state, trash };
      const child = spawn(
        process.execPath,
        [join(import.meta.dirname, "../prepare-once.ts"), JSON.stringify({ kind, options, order, env: stage.env })],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
      let said = "";
      child.stdout.on("data", (chunk) => {
        said += chunk;
      });
      const ended = once(child, "close");
      await once(child.stdout, "data");
      await setTimeout(lots(120));
      child.kill("SIGKILL");
      await ended;
      if (!said.includes("done")) killed += 1;
      await untilDone(() => whole.prepare(order));
      tips.set(order.branch, base);
      expect(await whole.inspect(folder)).toMatchObject({
        kind: "there",
        branch: order.branch,
        head: base,
        dirty: false,
      });
      expect([statusOf(at()), at().read("a.txt")]).toEqual(["", "a\n"]);
      checkOthers(scene, own, tips);
    }
    expect(killed).toBeGreaterThan(rounds / 6);
    expect(readFileSync(join(user.folder, ".git/HEAD"), "utf8")).toBe("ref: refs/heads/main\n");
  });
}
