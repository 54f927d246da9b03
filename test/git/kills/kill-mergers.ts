import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { createRandom } from "../../../src/engine/simulate/live.ts";
import { controlGit, type Stage } from "../stage.ts";
import { killTree } from "./kill-tree.ts";
import { importWork, type Work } from "./work.ts";

export interface Killing {
  readonly seed: number;
  readonly kills: number;
}

/**
 * whole: killed with its children, at any moment. in the files: the same while git writes the user's files.
 * alone: killed without its children, so that its git process continues.
 */
type Death = "whole" | "in the files" | "alone";

const deaths: readonly Death[] = ["whole", "in the files", "alone", "in the files"];

export interface Killed {
  /** How many processes were killed during their work, and how many of the user's locks had to be removed by hand. */
  readonly inTheMiddle: number;
  readonly locks: number;
}

/** Merges and publishes in processes that are killed again and again, and checks both repositories after each kill. */
export async function killMergers(stage: Stage, { seed, kills }: Killing): Promise<Killed> {
  const random = createRandom(seed);
  const user = stage.repository();
  const work = importWork(user, 40 + 2 * kills);
  const control = await stage.control(user);
  const controlled = controlGit(stage, control);
  user.write("a.txt", "the user's own change\n");
  user.write("own.txt", "the user's own file\n");
  const acknowledged = new Set<string>();
  const count = { inTheMiddle: 0, locks: 0 };
  let place = 0;

  for (let kill = 0; kill < kills; kill++) {
    await run(4, deaths[kill % deaths.length]);
    checkMain();
    if (kill % 6 !== 5) continue;
    await settle(1);
    checkFiles();
  }
  await settle(2);
  checkFiles();
  expect(user.git("fsck", "--strict", "--no-dangling")).toBe("");
  expect(controlled("fsck", "--strict", "--no-dangling")).toBe("");
  expect(merges().length).toBeGreaterThanOrEqual(place);
  return count;

  /** Runs one process. Without a delay it is not killed. */
  async function run(orders: number, death?: Death): Promise<boolean> {
    const due = work.slice(place, place + orders).map(({ number, commit }) => `${number}:${commit}`);
    const merger = fileURLToPath(new URL("merger.ts", import.meta.url));
    const child = spawn(process.execPath, [merger, control.folder, user.folder, ...due], {
      ...{ env: stage.env, stdio: ["ignore", "pipe", "inherit"] },
    });
    const ended = once(child, "close");
    let waits = "";
    const said = createInterface({ input: child.stdout });
    said.on("line", (line) => {
      const [word, ...rest] = line.split(" ");
      if (word === "done") acknowledged.add(rest[0] ?? "");
      if (word === "waits") waits = rest.join(" ");
    });
    if (death !== undefined) {
      await Promise.race([once(said, "line"), ended]);
      if (death === "in the files") await untilFilesAreWritten(child);
      else await Promise.race([setTimeout(random.next() * 300), ended]);
      if (child.exitCode === null) count.inTheMiddle += 1;
      if (death === "alone") child.kill("SIGKILL");
      else killTree(child.pid ?? 0);
    }
    await ended;
    while (acknowledged.has(String(place))) place += 1;
    if (waits !== "") await removeLock(waits);
    return waits === "" && child.exitCode === 0;
  }

  async function untilFilesAreWritten(child: ChildProcess): Promise<void> {
    while (child.exitCode === null && !existsSync(join(user.folder, ".git/index.lock"))) await setTimeout(1);
    await setTimeout(random.next() * 12);
  }

  /** The daemon never removes the user's locks: it reports them, and the user removes them when git has ended. */
  async function removeLock(waits: string): Promise<void> {
    expect(waits).toMatch(/^locked /);
    const [, path = ""] = /"([^"]+\.lock)"/.exec(waits) ?? [];
    if (!waits.includes("no git process")) return void (await setTimeout(50));
    rmSync(path, { force: true });
    count.locks += 1;
  }

  async function settle(orders: number): Promise<void> {
    for (let tries = 0; !(await run(orders)); tries++) expect(tries).toBeLessThan(20);
  }

  function merges(): readonly string[] {
    const range = `${work[0]?.base}..main`;
    return user.git("log", "--first-parent", "--reverse", "--format=%s", range).split("\n").filter(isSomething);
  }

  /** After every kill main has each merge once and complete, or not at all; acknowledged merges are there. */
  function checkMain(): void {
    const done = merges();
    expect(done).toEqual([...new Set(done)]);
    expect(done).toEqual(done.map((_, index) => `Merge ${index}`));
    for (const number of acknowledged) expect(done).toContain(`Merge ${number}`);
    const there = new Set(
      user
        .git("ls-tree", "-r", "main")
        .split("\n")
        .map((line) => line.split(/\s/)[2]),
    );
    for (const { number, blobs } of work.slice(0, place + 6) satisfies readonly Work[])
      expect([number, blobs.filter((id) => there.has(id)).length]).toEqual([
        number,
        done.includes(`Merge ${number}`) ? blobs.length : 0,
      ]);
    expect(user.git("fsck", "--connectivity-only", "--no-dangling")).toBe("");
    expect(controlled("fsck", "--connectivity-only", "--no-dangling")).toBe("");
  }

  function checkFiles(): void {
    expect(user.git("status", "--porcelain", "--untracked-files=all")).toBe("M a.txt\n?? own.txt");
    expect([user.read("a.txt"), user.read("own.txt")]).toEqual(["the user's own change\n", "the user's own file\n"]);
  }
}

function isSomething(line: string): boolean {
  return line !== "";
}
