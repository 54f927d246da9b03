// What the page costs, as ratios in one run: its size against an empty page of the same libraries, its main thread against a bare
// list of them, its memory after many events against its memory after the first, and how soon it shows what happens. Each part
// counts what it saw, and fails where the workload was not what was meant.
//
// npm run bench -- web. Alone: node bench/web.ts [--minutes N] [--only size|list|delay|heap|diff|restart|others]
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { buildPage } from "../scripts/page.ts";
import buildPrograms from "../test/build-programs.ts";
import { openBrowser } from "../test/web/browser.ts";
import type { WebStage } from "../test/web/stage.ts";
import { serveBareList } from "./web/bare-server.ts";
import { openManyTasks } from "./web/many-tasks.ts";
import { commentAcrossRestart, files, linesOfFile, openChanges, script, shownNotes } from "./web/one-task.ts";
import { type PageWork, watchPage } from "./web/watch-page.ts";

const { values: options } = parseArgs({
  options: {
    /** How long events are replayed for the heap. */
    minutes: { type: "string", default: "0.5" },
    only: { type: "string", default: "" },
  },
});
const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const [ours, bare] = [join(folder, "page"), join(folder, "bare")];
const count = 10_000;
const open = 1_000;
const changing = 30;
const perSecond = 10;
const rounds = 2;
const roundSeconds = 8;
const quietChanges = 40;
const size = { width: 1600, height: 1000 };
const [card, bareRow, inboxRow] = ["[id^=card-]", "[data-row]", "section[aria-label='Waiting for you'] li"];

let failed = false;
let lastTurn = 0;
const isWanted = (part: string) => options.only === "" || options.only.split(",").includes(part);
await buildPage(ours, version);
await buildPage(bare, version, join(root, "bench/web/bare-list"));
if (isWanted("size")) sizes();
if (["list", "delay", "heap"].some(isWanted)) await lists();
if (["diff", "restart"].some(isWanted)) await oneTask();
if (isWanted("others")) others();
process.exit(failed ? 1 : 0);

/** What a browser loads before it shows anything, gzipped. */
function sizes(): void {
  const [own, empty] = [firstLoad(ours), firstLoad(bare)];
  print("first load, gzip", kB(own.bytes), "", "≤ 150 kB", own.bytes <= 150_000);
  print(
    "  / the empty page of its libraries",
    kB(empty.bytes),
    times(own.bytes / empty.bytes),
    "≤ 1.3 ×",
    own.bytes / empty.bytes <= 1.3,
  );
  mustBe("files of the first load", own.files, own.files > 1 && empty.files > 1);
}

function firstLoad(page: string): { readonly bytes: number; readonly files: number } {
  const index = readFileSync(join(page, "index.html"), "utf8");
  const names = [...index.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, name = ""]) => name);
  const parts = [Buffer.from(index), ...names.map((name) => readFileSync(join(page, name)))];
  return { bytes: parts.reduce((sum, part) => sum + gzipSync(part).length, 0), files: parts.length };
}

/** Ten thousand tasks, of which thirty change ten times a second. */
async function lists(): Promise<void> {
  const many = await openManyTasks(ours, version, { count, open });
  try {
    const watch = await showBoard(many);
    if (isWanted("list")) await mainThread(many, watch);
    if (isWanted("delay")) await quietDelay(many, watch);
    if (isWanted("heap")) await heap(many, watch);
    if (isWanted("list")) await inboxRows(many, watch);
    mustBe("misdeeds of the page", many.misdeeds, many.misdeeds.length === 0);
  } finally {
    await many.close();
  }
}

type ManyTasks = Awaited<ReturnType<typeof openManyTasks>>;
type Watch = Awaited<ReturnType<typeof watchPage>>;

async function showBoard(many: ManyTasks): Promise<Watch> {
  await many.goTo("/board");
  await many.page.locator(card).first().waitFor();
  await many.page.getByRole("button", { name: /Show more/ }).click();
  await many.page.getByRole("button", { name: /Show more/ }).waitFor({ state: "detached" });
  await sleep(1_000);
  return watchPage(many.page);
}

/** What the main thread does for the board, against what it does for a bare list; and how late the board shows each change. */
async function mainThread(many: ManyTasks, own: Watch): Promise<void> {
  const server = await serveBareList(bare, count);
  const plain = await openBrowser(server.address, size);
  await plain.goTo("/");
  await plain.page.locator(bareRow).first().waitFor();
  const theirs = await watchPage(plain.page);
  const rows = many.newest(changing);
  const first = Array.from({ length: changing }, (_, i) => i);
  const [work, bareWork]: [PageWork[], PageWork[]] = [[], []];
  const sent: Sent[] = [];
  for (let round = 0; round < rounds; round++) {
    bareWork.push(await theirs.during(() => repeat(perSecond, roundSeconds, (turn) => server.change(first, turn))));
    const done = await own.during(() =>
      repeat(perSecond, roundSeconds, async (turn) => {
        const now = clock();
        sent.push(...rows.map((row) => ({ row, turn, at: now })));
        await Promise.all(rows.map((row) => many.change(row, turn)));
      }),
    );
    work.push(done);
  }
  const drawn = work.flatMap((each) => each.drawn);
  const bareDrawn = bareWork.flatMap((each) => each.drawn);
  const late = delays(sent, drawn);
  const seconds = rounds * roundSeconds;
  const wanted = changing * perSecond * seconds;
  const rate = (all: PageWork["drawn"]) => all.length / changing / seconds;
  mustBe("changes made", sent.length, sent.length > 0.9 * wanted);
  mustBe("changed rows that the page has drawn", rowsOf(drawn), rowsOf(drawn) === changing && rate(drawn) > 2);
  mustBe("drawn by the bare list", bareDrawn.length, rowsOf(bareDrawn) === changing && bareDrawn.length > 0.9 * wanted);
  mustBe("changes that the page never showed", missing(late), missing(late) === 0);
  const [share, bareShare] = [busyShare(work, seconds), busyShare(bareWork, seconds)];
  const { length: longTasks } = work.flatMap((each) => each.longTasks);
  const shown = await own.rows(card);
  const bareShown = await theirs.rows(bareRow);
  mustBe("rows on the screen", [shown, bareShown], shown.visible >= changing && bareShown.visible >= changing);
  print(
    `${count} tasks, ${changing} rows × ${perSecond}/s: main thread`,
    percent(share),
    times(share / bareShare),
    "≤ 2 ×",
    share / bareShare <= 2,
  );
  note(
    `  each row drawn ${rate(drawn).toFixed(1)} times a second; by the bare list`,
    percent(bareShare),
    `${rate(bareDrawn).toFixed(1)} / s`,
  );
  print(`  long tasks in ${seconds} s`, String(longTasks), "", "0", longTasks === 0);
  print(
    `  rows in the document, ${shown.visible} visible`,
    String(shown.drawn),
    times(shown.drawn / shown.visible),
    "≤ 3 ×",
    shown.drawn <= 3 * shown.visible,
  );
  printDelay("event to pixel meanwhile, p50 and p95", late);
  await plain.close();
  await server.close();
}

/** How late the page shows a change while nothing else happens. */
async function quietDelay(many: ManyTasks, own: Watch): Promise<void> {
  const [row = 0] = many.newest(1);
  const sent: Sent[] = [];
  const { drawn } = await own.during(async () => {
    for (let i = 0; i < quietChanges; i++) {
      const turn = ++lastTurn;
      sent.push({ row, turn, at: clock() });
      await many.change(row, turn);
      // Not in step with the page.
      await sleep(150 + ((i * 89) % 300));
    }
    await sleep(1_000);
  });
  const late = delays(sent, drawn);
  mustBe("changes that the page never showed", missing(late), missing(late) === 0);
  printDelay("event to pixel, one at a time, p50 and p95", late);
}

function printDelay(what: string, late: readonly number[]): void {
  const p95 = quantile(late, 0.95);
  print(what, ms(quantile(late, 0.5)), ms(p95), "≤ 250 ms", p95 <= 250);
}

/** An hour of thirty agents, each of which changes its task every four seconds, in a twentieth of the time. */
async function heap(many: ManyTasks, own: Watch): Promise<void> {
  const minutes = Number(options.minutes);
  const rows = many.newest(changing);
  const replay = async (seconds: number) => {
    let events = 0;
    await repeat(5, seconds, async (turn) => {
      await Promise.all(rows.map((row) => many.change(row, turn)));
      events += rows.length;
    });
    return events;
  };
  const opening = Math.min(10, minutes * 20);
  await replay(opening);
  const before = await own.heap();
  const rest = minutes * 60 - opening;
  const { result: events, drawn } = await withResult(own, () => replay(rest));
  const after = await own.heap();
  mustBe("events replayed", events, events > 0.8 * 5 * changing * rest);
  mustBe("rows drawn meanwhile", rowsOf(drawn), rowsOf(drawn) === changing);
  const hours = ((minutes * 20) / 60).toFixed(1);
  print(
    `heap after ${hours} h of events in ${minutes} min`,
    MB(after),
    times(after / before),
    "≤ 1.2 ×",
    after <= 1.2 * before,
  );
}

async function inboxRows(many: ManyTasks, own: Watch): Promise<void> {
  await many.goTo("/");
  await many.page.locator(inboxRow).first().waitFor();
  const { drawn, visible } = await own.rows(inboxRow);
  const said = (await many.page.getByRole("heading", { name: /tasks wait for you/ }).textContent()) ?? "";
  mustBe("waiting tasks", said, Number.parseInt(said, 10) >= 200 && visible > 5);
  print(
    `  rows of the inbox in the document, ${visible} visible`,
    String(drawn),
    times(drawn / visible),
    "≤ 3 ×",
    drawn <= 3 * visible,
  );
}

async function withResult<T>(watch: Watch, run: () => Promise<T>): Promise<PageWork & { readonly result: T }> {
  let result: T | undefined;
  const work = await watch.during(async () => {
    result = await run();
  });
  return { ...work, result: result as T };
}

/** Does something so many times a second, each with a turn of its own, and waits until it was drawn. */
async function repeat(each: number, seconds: number, change: (turn: number) => unknown): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  for (let next = performance.now(); next < end; next += 1_000 / each) {
    await sleep(Math.max(0, next - performance.now()));
    await change(++lastTurn);
  }
  await sleep(1_000);
}

interface Sent {
  readonly row: number;
  readonly turn: number;
  /** When the change was begun. */
  readonly at: number;
}

/** For each change how long it took until the page showed it, or a later one of its row; infinite for one that it never showed. */
function delays(sent: readonly Sent[], drawn: PageWork["drawn"]): readonly number[] {
  const shown = Map.groupBy(drawn, ({ row }) => row);
  return sent.map(({ row, turn, at }) => {
    const seen = shown.get(row)?.find((each) => each.turn >= turn);
    return seen === undefined ? Number.POSITIVE_INFINITY : seen.at - at;
  });
}

function missing(late: readonly number[]): number {
  return late.filter((each) => !Number.isFinite(each)).length;
}

function quantile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}

function rowsOf(drawn: PageWork["drawn"]): number {
  return new Set(drawn.map(({ row }) => row)).size;
}

function busyShare(work: readonly PageWork[], seconds: number): number {
  return work.reduce((sum, { busy }) => sum + busy, 0) / seconds;
}

/** The clock that browsers have too, in milliseconds. */
function clock(): number {
  return performance.timeOrigin + performance.now();
}

/** A task whose agent has changed five thousand lines, with a daemon and git as they are. */
async function oneTask(): Promise<void> {
  const remove = buildPrograms();
  cpSync(ours, join(process.env.SIGNALBOX_BUILT ?? "", "dist", "web"), { recursive: true });
  // Imported after the build: these modules look for the built programs when they are loaded.
  const { openWebStage } = await import("../test/web/stage.ts");
  const stage = await openWebStage({ script });
  try {
    const task = await stage.create("Write the menus", { branch: "menus" });
    await stage.until(task, ({ needsPerson, judged }) => needsPerson && judged !== null);
    if (isWanted("diff")) await firstFile(stage, task);
    if (isWanted("restart")) await restarts(stage, task);
  } finally {
    await stage.close();
    remove?.();
  }
}

async function firstFile(stage: WebStage, task: string): Promise<void> {
  const visitor = await stage.browser(size);
  const took: number[] = [];
  for (let i = 0; i < 7; i++) {
    const opened = await openChanges(visitor, task);
    took.push(opened.took);
    mustBe("lines of the first file", opened.lines, opened.lines === linesOfFile);
  }
  const listed = await visitor.page
    .locator("summary")
    .filter({ hasText: /menu-\d+\.md/ })
    .count();
  mustBe("files listed", listed, listed === files);
  // Other work of the machine only adds to it.
  const least = Math.min(...took);
  print(
    `${files * linesOfFile} changed lines: the first file of ${files}`,
    ms(least),
    `median ${ms(quantile(took, 0.5))}`,
    "≤ 200 ms",
    least <= 200,
  );
}

/** What happens while the daemon is killed and started again is shown once each. */
async function restarts(stage: WebStage, task: string): Promise<void> {
  const visitor = await stage.browser({ width: 1280, height: 4_000 });
  await visitor.goTo(`/tasks/${task}?part=history`);
  await visitor.page.getByText("task.created").waitFor();
  const made = await commentAcrossRestart(stage, task);
  await visitor.page.getByText(`note ${made - 1}.`).waitFor();
  const shown = await shownNotes(visitor.page);
  const [lost, twice] = [made - new Set(shown).size, shown.length - new Set(shown).size];
  print(
    `${made} events across three kills of the daemon`,
    `${lost} missing`,
    `${twice} twice`,
    "0",
    lost + twice === 0,
  );
}

/** Figures that other benchmarks measure. */
function others(): void {
  for (const name of ["lists", "terminal"]) {
    const { status } = spawnSync(process.execPath, [join(root, "bench", `${name}.ts`)], { stdio: "inherit" });
    failed ||= status !== 0;
  }
}

function print(what: string, ...columns: readonly (string | boolean)[]): void {
  const isMet = columns.at(-1) !== false;
  if (!isMet) failed = true;
  const texts = columns.filter((each) => typeof each === "string");
  process.stdout.write(
    `${what.padEnd(60)}${texts.map((each) => each.padStart(12)).join("")}  ${isMet ? "ok" : "MISSED"}\n`,
  );
}

/** A line without a limit. */
function note(what: string, ...columns: readonly string[]): void {
  process.stdout.write(`${what.padEnd(60)}${columns.map((each) => each.padStart(12)).join("")}\n`);
}

/** The workload must be what was meant. */
function mustBe(what: string, found: unknown, isSo: boolean): void {
  if (isSo) return;
  failed = true;
  process.stdout.write(`${what}: ${JSON.stringify(found)}. This was not the workload.\n`);
}

function kB(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}

function MB(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function ms(time: number): string {
  return `${time.toFixed(0)} ms`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function times(ratio: number): string {
  return `${ratio.toFixed(2)} ×`;
}
