import { chmodSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { restoreBackup } from "../../src/home/backups.ts";
import { eventually, type Stage, startStage } from "../agents/stage.ts";

/** The user's own files, and git repositories, whose content follows the user's umask inside a private folder. */
const exempt = ["config.yml", "workflows", "workspaces", "control", "repositories"];

/** Everything of a home that others could read or write, with its permissions. */
function readableByOthers(folder: string, root = folder): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (exempt.includes(relative(root, path))) return [];
    const found = lstatSync(path, { throwIfNoEntry: false });
    // The draft of a file that the daemon has published meanwhile.
    if (found === undefined || found.isSymbolicLink()) return [];
    const own = (found.mode & 0o077) === 0 ? [] : [`${relative(root, path)} ${(found.mode & 0o777).toString(8)}`];
    // Nobody else reaches the content of a private folder of the trash or of a harness.
    const isDeep = relative(root, path).split("/").length > 3;
    return [...own, ...(found.isDirectory() && !isDeep ? readableByOthers(path, root) : [])];
  });
}

async function withUmask<T>(umask: number, run: () => Promise<T>): Promise<T> {
  const before = process.umask(umask);
  try {
    return await run();
  } finally {
    process.umask(before);
  }
}

const flow = `name: flow
version: 1
roles: { worker: { mode: session, harness: task, permissions: full, window: worker } }
states:
  todo: { waits_for: slot, next: busy }
  busy:
    agent: { role: worker, prompt: work }
    outcomes: [{ then: stuck }]
  stuck: { waits_for: human, next: done }
  done: { terminal: true }
  cancelled: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: any, to: cancelled, by: human, hooks: [kill_session, release_workspace] }
prompts: { work: "Work on {summary}" }
`;
const script = `roles: { any: [{ steps: [{ say: "I think." }, { think: 1h }] }] }`;

async function use(stage: Stage): Promise<void> {
  const task = await stage.create("a cup");
  await stage.untilRun(({ activity }) => activity === "busy");
  await stage.call(routes.backup, { body: {} });
  await stage.call(routes.cancelTask, { params: { task }, body: {} });
  await stage.until(task, ({ status }) => status === "cancelled");
  // Its last effects are carried out first.
  await eventually(() => stage.call(routes.deleteTask, { params: { task } }), 30_000);
}

test("with umask 0 no file of the home is readable by others: database, backups, trash, runs, logs", async () => {
  await withUmask(0, async () => {
    const stage = await startStage({ flow, script });
    await use(stage);
    expect(lstatSync(`${stage.places.database}-wal`).mode & 0o777).toBe(0o600);
    expect(readableByOthers(stage.home.folder)).toEqual([]);
    await stage.killDaemon();
    const [backup = ""] = readdirSync(stage.places.backups);
    chmodSync(join(stage.places.backups, backup), 0o644);
    restoreBackup(stage.places, join(stage.places.backups, backup), new Date());
    expect(lstatSync(stage.places.database).mode & 0o777).toBe(0o600);
  });
});

test("a starting daemon restricts existing files of the home to the user, and follows no link", async () => {
  const stage = await startStage({ flow, script });
  await use(stage);
  await stage.killDaemon();
  const { places } = stage;
  const aside = join(places.setAside, "2020");
  const outside = join(stage.base, "outside");
  for (const folder of [aside, outside, join(places.runs, "b1111-1"), join(places.logs, "tests"), places.trash])
    mkdirSync(folder, { recursive: true });
  const files = [
    ...[places.database, `${places.database}-wal`, join(aside, "signalbox.db"), join(places.backups, "old.db")],
    ...[join(places.runs, "b1111-1", "harness.json"), join(places.logs, "tests", "b1111-1.log"), places.log],
    ...[join(places.trash, "coffee-1-b1111.jsonl"), join(outside, "shared.txt")],
  ];
  for (const file of files) {
    if (!file.startsWith(places.database)) writeFileSync(file, "text");
    chmodSync(file, 0o666);
  }
  symlinkSync(join(outside, "shared.txt"), join(places.backups, "link.db"));
  for (const folder of [places.backups, aside, places.trash, places.logs, places.runs]) chmodSync(folder, 0o755);
  await stage.restart();
  expect(readableByOthers(stage.home.folder)).toEqual([]);
  expect(lstatSync(join(outside, "shared.txt")).mode & 0o777).toBe(0o666);
});
