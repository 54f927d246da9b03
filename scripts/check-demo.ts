// Checks from outside what `signalbox demo` did: with git, the exported histories, and the processes that still run.
// Without arguments it runs the demo itself: node scripts/check-demo.ts [REPOSITORY HISTORIES HOME]
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { apply, type TaskEvent } from "../src/engine/decision.ts";
import type { Task } from "../src/engine/task.ts";

export interface Demo {
  readonly repository: string;
  /** The folder with the exported histories. */
  readonly histories: string;
  readonly home: string;
}

/** All problems. */
export function checkDemo({ repository, histories, home }: Demo): readonly string[] {
  const files = readdirSync(histories).filter((file) => file.endsWith(".jsonl"));
  const tasks = files.map((file) => readHistory(readFileSync(join(histories, file), "utf8")));
  return [
    ...(tasks.length === 4 ? [] : [`there are ${tasks.length} histories instead of 4`]),
    ...tasks.flatMap((history) => historyProblems(history).map((problem) => `${history.task.branch}: ${problem}`)),
    ...storyProblems(tasks),
    ...repositoryProblems(repository, tasks),
    ...leftRunning(home),
  ];
}

interface History {
  readonly task: Task;
  readonly revision: number;
  readonly events: readonly { readonly revision: number; readonly event: TaskEvent }[];
}

function readHistory(text: string): History {
  const lines = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  const stored = lines.find(({ kind }) => kind === "task");
  return { ...stored, events: lines.filter(({ kind }) => kind === "event") };
}

/** History has no gap, and replays to the stored task. */
function historyProblems({ task, revision, events }: History): readonly string[] {
  const problems: string[] = [];
  let last = 0;
  let status = "";
  for (const { revision: number, event } of events) {
    if (number !== last && number !== last + 1) problems.push(`revision ${number} comes after ${last}`);
    last = number;
    if (event.type !== "task.moved" && event.type !== "task.created") continue;
    if (event.type === "task.moved" && event.data.from !== status)
      problems.push(`it leaves ${event.data.from}, but was in ${status}`);
    status = String(event.data.to ?? event.data.status);
  }
  if (last !== revision) problems.push(`history ends with revision ${last}, the task is at ${revision}`);
  if (task.phase !== "over") problems.push(`it is not over: ${task.status}, ${task.phase}`);
  const replayed = events.map(({ event }) => withTakenAway(event)).reduce(apply, {} as Task);
  for (const key of new Set([...Object.keys(task), ...Object.keys(replayed)]) as Set<keyof Task>) {
    const [told, kept] = [replayed[key], task[key]].map((value) => JSON.stringify(value));
    if (told !== kept) problems.push(`${key} is ${kept}, but history gives ${told}`);
  }
  return problems;
}

/** JSON has no `undefined`; in an export null means that a field was removed. */
function withTakenAway(event: TaskEvent): TaskEvent {
  return {
    ...event,
    set: Object.fromEntries(Object.entries(event.set).map(([key, value]) => [key, value ?? undefined])),
  };
}

/** The histories contain everything that the demo promises to show. */
function storyProblems(tasks: readonly History[]): readonly string[] {
  const some = (isMeant: (event: TaskEvent) => boolean) =>
    tasks.filter(({ events }) => events.some(({ event }) => isMeant(event))).length;
  const died = some(({ type }) => type === "agent.ended");
  const answered = some(({ type, by }) => type === "document.changed" && by === "human");
  const reviews = tasks.map(
    ({ events }) =>
      events.filter(
        ({ event: { type, data } }) =>
          type === "task.moved" && JSON.stringify(data.evidence ?? []).includes('"section":"Review"'),
      ).length,
  );
  return [
    ...(died === 1 ? [] : [`agents died in ${died} tasks instead of 1`]),
    ...(answered === 1 ? [] : [`a person answered in ${answered} tasks instead of 1`]),
    ...(reviews.sort().join() === "1,1,1,2" ? [] : [`there were ${reviews.join(", ")} reviews instead of 1, 1, 1, 2`]),
  ];
}

function repositoryProblems(repository: string, tasks: readonly History[]): readonly string[] {
  const git = (...args: readonly string[]) =>
    spawnSync("git", ["-C", repository, ...args], { encoding: "utf8", env: { PATH: process.env.PATH } });
  const merges = git("rev-list", "--merges", "--first-parent", "main").stdout.split("\n").filter(Boolean);
  const fsck = git("fsck", "--strict", "--no-dangling", "--no-progress");
  const changes = git("status", "--porcelain").stdout;
  const landed = tasks.map(({ task, events }) => ({
    branch: task.branch,
    data: events.find(({ event }) => event.type === "merge.landed")?.event.data ?? {},
  }));
  return [
    ...(merges.length === 4 ? [] : [`main has ${merges.length} merge commits instead of 4`]),
    ...landed.flatMap(({ branch, data }) => {
      const parents = git("show", "--no-patch", "--format=%P", String(data.after)).stdout.trim();
      const isThere = merges.includes(String(data.after)) && parents === `${data.before} ${data.commit}`;
      return isThere ? [] : [`${branch}: history tells of a merge ${data.after}, which main does not have`];
    }),
    ...(fsck.status === 0 && fsck.stdout + fsck.stderr === "" ? [] : [`git fsck: ${fsck.stdout}${fsck.stderr}`]),
    ...(changes === "" ? [] : [`the working copy is not clean:\n${changes}`]),
  ];
}

/** Processes of the home that still run, and a tmux server that still answers. */
function leftRunning(home: string): readonly string[] {
  const entry = `SIGNALBOX_HOME=${home}`;
  const pids = readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, "utf8").split("\0").includes(entry);
    } catch {
      return false;
    }
  });
  const socket = join(home, "run", "tmux.sock");
  const hasServer = existsSync(socket) && spawnSync("tmux", ["-S", socket, "list-sessions"]).status === 0;
  return [
    ...pids.map((pid) => `the process ${pid} still runs`),
    ...(hasServer ? ["a terminal server still runs"] : []),
  ];
}

if (import.meta.main) {
  const [repository, histories, home] = process.argv.slice(2).map((path) => resolve(path));
  const demo =
    repository === undefined || histories === undefined || home === undefined
      ? undefined
      : { repository, histories, home };
  const problems = demo === undefined ? runAndCheck() : checkDemo(demo);
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (problems.length === 0) process.stdout.write("The demo did everything that it reports.\n");
  process.exitCode = problems.length === 0 ? 0 : 1;
}

function runAndCheck(): readonly string[] {
  const histories = mkdtempSync(join(tmpdir(), "signalbox-histories-"));
  const launcher = join(import.meta.dirname, "..", "bin", "signalbox");
  const printed = execFileSync(launcher, ["demo", "--keep", "--json", "--export", histories], { encoding: "utf8" });
  const { home, repository } = JSON.parse(printed) as Demo;
  try {
    return checkDemo({ home, repository, histories });
  } finally {
    for (const folder of [dirname(home), histories]) rmSync(folder, { recursive: true, force: true });
  }
}
