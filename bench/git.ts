// Workspaces and merges against git itself, in one run and on a real disk. A workspace from the pool against `git worktree
// add`: once parked (warm: a second after its release), and once as an agent has just left it (used: it must be cleaned and
// checked out first). A judge's checkout of another's work, parked, likewise. A queue of merges that is published once against a checkout that merges each. And how long the event
// loop is blocked while thirty workspaces are prepared in parallel. Prints ratios against limits.
//
// A queue of merges and its publication start git a few times each: most of the time goes into fsyncs of objects and the
// checkout of the files.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { createGit } from "../src/adapters/git/git.ts";
import { createRunner } from "../src/adapters/git/runner.ts";
import { createClones, createWorktrees } from "../src/adapters/git/workspace/kinds.ts";
import type { WorkspaceKind } from "../src/ports/workspaces.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-bench-git-")));
// Deleted in the background: that takes as long as everything else.
process.on("exit", () => spawn("rm", ["-rf", folder], { detached: true, stdio: "ignore" }).unref());
const home = join(folder, "home");
mkdirSync(home);
writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n");
const env = { PATH: process.env.PATH ?? "", HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
const run = createRunner({ program: "git", env, signal: undefined, limits: { short: 600_000, long: 600_000 } });
const execute = promisify(execFile);
const git = async (cwd: string, ...args: readonly string[]) =>
  (await execute("git", [...args], { cwd, env, maxBuffer: 64 * 1024 * 1024 })).stdout.trim();

const keep = ["node_modules", ".venv", "target"];
const author = { name: "Ada", email: "ada@example.org" };

let failed = false;
print("acquire, ms", "worktree add", "from the pool", "ratio", "limit");
await acquire(2_000, 7, { limit: 2.5, judges: 1 });
await acquire(20_000, 4, { limit: 5, judges: 4 });
process.stdout.write("\n");
print("merge, ms", "checkout, merge", "queue, publish", "ratio", "limit");
await mergeAll(24, 2_000, 5, { limit: 3, goal: 4 });
await mergeAll(24, 20_000, 3, { limit: 3, goal: 4 });
process.stdout.write("\n");
print("30 at once", "together, ms", "longest wait, ms", "if idle, ms", "limit");
await together(30, 50);
process.exit(failed ? 1 : 0);

/** A workspace of the pool against a new worktree. */
async function acquire(
  files: number,
  rounds: number,
  { limit, judges }: { readonly limit: number; readonly judges: number },
): Promise<void> {
  const { repository, base, kinds, control } = await makeProject(`${files}`, files);
  const workspaces = ["warm", "used up"].flatMap((how) =>
    kinds.map((kind) => ({
      kind,
      isWarm: how === "warm",
      name: `${kind.kind}, ${how}`,
      path: join(folder, `${files}-pool`, `${kind.kind}-${how === "warm" ? 1 : 2}`),
      ms: [] as number[],
    })),
  );
  for (const { kind, path } of workspaces) await prepare(kind, path, branchOf(path, "first"), base, false);
  const clones = kinds.find(({ kind }) => kind === "clone") as WorkspaceKind;
  const checkout = join(folder, `${files}-pool`, "review-1");
  const judged: number[] = [];
  const judge = (round: number, work: string) =>
    clones.prepare({
      ...{ folder: checkout, branch: `signalbox-review/t-${round}`, base, lastAt: work, baseBranch: "main" },
      ...{ existing: true, salvaged: false, showsAll: true, keep },
    });
  const added: number[] = [];
  for (let round = 0; round < rounds; round++) {
    let work = base;
    for (const { kind, path, isWarm } of workspaces) {
      await useUp(path, files, round);
      if (kind.kind === "clone") work = await git(path, "rev-parse", "HEAD");
      // As after the release of a workspace.
      const branch = (await kind.currentBranch(path)) ?? "";
      if (kind.kind === "clone") await control.collect({ folder: path, branch, task: "t" });
      if (isWarm && !(await kind.park({ folder: path, at: "main", keep, isFree: async () => true })))
        throw new Error("It must be parked.");
    }
    if (round === 0) await judge(-1, base);
    if (!(await clones.park({ folder: checkout, at: "main", keep, isFree: async () => true })))
      throw new Error("It must be parked.");
    const place = join(folder, `${files}-added-${round}`);
    const add = async () =>
      void added.push(await timed(() => git(repository, "worktree", "add", "-q", "-b", `added-${round}`, place, base)));
    const recycle = async () => {
      for (const { kind, path, ms, isWarm } of workspaces) {
        ms.push(await timed(() => prepare(kind, path, branchOf(path, `${round}`), base, !isWarm)));
      }
      judged.push(await timed(() => judge(round, work)));
    };
    for (const act of round % 2 === 0 ? [add, recycle] : [recycle, add]) await act();
  }
  const rows = workspaces.map(({ name, ms, isWarm }) => ({ name, ms, least: isWarm ? limit : undefined }));
  for (const { name, ms, least } of [...rows, { name: "judge's", ms: judged, least: judges }]) {
    const ratio = median(added) / median(ms);
    const isTooSlow = least !== undefined && ratio < least;
    if (isTooSlow) failed = true;
    const shown = least === undefined ? "" : `≥ ${least}`;
    const numbers = [median(added).toFixed(0), median(ms).toFixed(0), ratio.toFixed(1), shown];
    print(`${files} files, ${name}`, ...numbers, isTooSlow ? "TOO SLOW" : "");
  }
}

/** A branch of its own for each workspace. */
function branchOf(path: string, name: string): string {
  return `${basename(path)}-${name}`;
}

/** A queue of merges with one publication, against the commands a person would type. Both must end with the same files. */
async function mergeAll(
  count: number,
  files: number,
  rounds: number,
  { limit, goal }: { readonly limit: number; readonly goal: number },
): Promise<void> {
  const { repository, base, control } = await makeProject(`merge-${files}`, files);
  await git(repository, "reset", "--quiet", "--hard");
  const branches = Array.from({ length: count }, (_, i) => `task-${i}`);
  const place = join(folder, `merge-${files}-work`);
  await git(repository, "worktree", "add", "--quiet", "--detach", place, base);
  for (const [i, branch] of branches.entries()) {
    await git(place, "checkout", "--quiet", "-b", branch, base);
    for (let n = 0; n < 10; n++) appendFileSync(join(place, nameOf((i * 10 + n) * 7)), `${branch}\n`);
    await git(place, "commit", "--quiet", "--all", "-m", branch);
  }
  await git(repository, "worktree", "remove", "--force", place);
  await control.syncFrom({ from: repository, name: "user" });
  const tips = await Promise.all(branches.map((branch) => git(repository, "rev-parse", branch)));
  const [typed, queued]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    // A merge can be made only once, so each round has its own repositories.
    const [plain, user, copy] = ["plain", "user", "control"].map((name) =>
      join(folder, `merge-${files}-${round}-${name}`),
    ) as [string, string, string];
    for (const each of [plain, user]) {
      await execute("cp", ["-a", repository, each]);
      // Otherwise git would read every file of a copy once, which it does not in a repository in use.
      await git(each, "update-index", "--refresh");
    }
    await execute("cp", ["-a", control.folder, copy]);
    const ours = await createGit({ env }).openControl(copy);
    const type = async () => {
      for (const branch of branches) {
        await git(plain, "checkout", "--quiet", "main");
        await git(plain, "merge", "--quiet", "--no-ff", "--no-edit", branch);
      }
    };
    const queue = async () => {
      const entries = tips.map((branch, i) => ({
        ...{ branch, strategy: "merge" as const, message: `Merge ${branches[i]}`, date: i },
      }));
      const last = (await ours.mergeAll({ onto: base, author, entries })).at(-1);
      if (last?.kind !== "merged") throw new Error(last?.kind);
      const at = last.commit;
      await ours.moveRef("refs/heads/main", at, undefined);
      const published = await ours.publish({ repository: user, branch: "main", commit: at, expected: base });
      if (published.kind !== "published") throw new Error(published.kind);
    };
    const acts = [async () => typed.push(await timed(type)), async () => queued.push(await timed(queue))];
    for (const act of round % 2 === 0 ? acts : acts.toReversed()) await act();
    const trees = await Promise.all([plain, user].map((each) => git(each, "rev-parse", "main^{tree}")));
    if (trees[0] !== trees[1]) throw new Error("Both must end with the same files.");
  }
  const ratio = median(typed) / median(queued);
  if (ratio < limit) failed = true;
  const numbers = [median(typed).toFixed(0), median(queued).toFixed(0), ratio.toFixed(1), `≥ ${limit}`];
  const words = ratio < limit ? "TOO SLOW" : `goal ${goal} ${ratio < goal ? "not met" : "met"}`;
  print(`${count} branches, ${files} files`, ...numbers, words);
}

/** As an agent leaves a workspace: three commits ahead, thirty files changed, thirty untracked. */
async function useUp(path: string, files: number, round: number): Promise<void> {
  const change = (first: number) => {
    for (let i = first; i < first + 10; i++) appendFileSync(join(path, nameOf((i * 197 + round) % files)), "changed\n");
  };
  for (let commit = 0; commit < 3; commit++) {
    change(commit * 10);
    await git(path, "commit", "--quiet", "--all", "-m", `${round}-${commit}`);
  }
  for (let i = 0; i < 3; i++) change(100 + i * 10);
  mkdirSync(join(path, `new-${round}`));
  for (let i = 0; i < 30; i++) writeFileSync(join(path, i < 15 ? `new-${round}/${i}` : `new-${round}-${i}`), "new\n");
  await setTimeout(1_100);
}

/**
 * The longest block of the event loop. Other programs add to it, so the best of three counts; it also reports how long an
 * idle thread had to wait meanwhile.
 */
async function together(count: number, limit: number): Promise<void> {
  const { base, kinds } = await makeProject("together", 300);
  for (const kind of kinds) {
    for (const what of ["new", "recycled"]) {
      const delays: { readonly busy: number; readonly idle: number }[] = [];
      let ms = 0;
      for (let round = 0; round < 3; round++) {
        const place = (i: number) => join(folder, kind.kind, `${what === "new" ? round : 0}`, `${i}`);
        const delay = monitorEventLoopDelay({ resolution: 1 });
        const all = Array.from({ length: count }, (_, i) => i);
        const idle = await watchIdle();
        delay.enable();
        ms = await timed(() =>
          Promise.all(all.map((i) => prepare(kind, place(i), `${what}-${kind.kind}-${i}-${round}`, base))),
        );
        delay.disable();
        delays.push({ busy: delay.max / 1e6, idle: await idle() });
      }
      const [best = { busy: 0, idle: 0 }] = delays.toSorted((a, b) => a.busy - b.busy);
      const longest = best.busy;
      if (longest >= limit) failed = true;
      const numbers = [ms.toFixed(0), longest.toFixed(1), best.idle.toFixed(1), `< ${limit}`];
      print(`${kind.kind}, ${what}`, ...numbers, longest >= limit ? "TOO LONG" : "");
    }
  }
}

/** Returns a function that reports how long an idle thread had to wait at most, in ms. */
async function watchIdle(): Promise<() => Promise<number>> {
  const program = `
    const { parentPort } = require("node:worker_threads");
    const delay = require("node:perf_hooks").monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    parentPort.once("message", () => parentPort.postMessage(delay.max / 1e6));
    parentPort.postMessage("ready");`;
  const worker = new Worker(program, { eval: true });
  await once(worker, "message");
  return async () => {
    worker.postMessage("asked");
    const [longest] = await once(worker, "message");
    await worker.terminate();
    return longest as number;
  };
}

async function prepare(
  kind: WorkspaceKind,
  path: string,
  branch: string,
  base: string,
  salvaged = true,
): Promise<void> {
  await kind.prepare({ folder: path, branch, base, existing: false, salvaged, keep });
}

async function makeProject(name: string, files: number) {
  const repository = join(folder, `${name}-repository`);
  mkdirSync(repository);
  await git(repository, "init", "--quiet", "--initial-branch=main");
  await importFiles(repository, files);
  await git(repository, "reset", "--quiet", "--mixed");
  const base = await git(repository, "rev-parse", "HEAD");
  const control = await createGit({ env }).openControl(join(folder, `${name}-control.git`), repository);
  await control.syncFrom({ from: repository, name: "user" });
  const options = { run, repository, control: control.folder, trash: join(folder, "trash") };
  const kinds = [createWorktrees, createClones].map((create) =>
    create({ ...options, state: join(folder, `${name}-${create.name}`) }),
  );
  return { repository, base, kinds, control };
}

/** Without writing the files of the checkout, which are not needed. */
async function importFiles(repository: string, files: number): Promise<void> {
  const child = spawn("git", ["fast-import", "--quiet"], {
    cwd: repository,
    env,
    stdio: ["pipe", "inherit", "inherit"],
  });
  const ended = once(child, "close");
  const write = (text: string) => child.stdin.write(text);
  write("commit refs/heads/main\ncommitter Ada <ada@example.org> 1760000000 +0000\ndata 5\nfirst\n");
  for (let i = 0; i < files; i++) {
    const text = textOf(i);
    write(`M 100644 inline ${nameOf(i)}\ndata ${text.length}\n${text}\n`);
    if (child.stdin.writableNeedDrain) await once(child.stdin, "drain");
  }
  child.stdin.end("done\n");
  await ended;
}

/** Between one and twelve thousand characters, as source files have. */
function textOf(file: number): string {
  const lines = 20 + ((file * 7919) % 221);
  const line = (n: number) =>
    `line ${n}: ${((file * 104729 + n * 1299709) % 2147483647).toString(36)} and some words more\n`;
  return Array.from({ length: lines }, (_, n) => line(n)).join("");
}

function nameOf(file: number): string {
  return `folder-${file % 20}/part-${Math.floor(file / 20) % 20}/file-${file}.txt`;
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[half] ?? 0) : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}

function print(...cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell, i) => (i === 0 ? cell.padEnd(28) : cell.padStart(18))).join("")}\n`);
}
