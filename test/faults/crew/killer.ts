// A separate process that kills a daemon repeatedly: node killer.ts FOLDER REPOSITORY KILLS SEED TICKETS
// It prints a line of JSON for each kill. The more tickets are closed, the faster it kills, so that both end together.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "../../../src/engine/simulate/live.ts";
import { readProcessTree, signalIfThere } from "../../process-tree.ts";
import { daemonFile } from "./keep-daemon.ts";

const [base = "", repository = "", ...numbers] = process.argv.slice(2);
const [kills = 0, seed = 0, tickets = 1] = numbers.map(Number);
const random = createRandom(seed);
/** Maximum lifetimes in milliseconds: during a start, while tickets are ahead of kills, behind them, or level with them. */
const maxLives = { starting: 400, ahead: 700, behind: 9_000, level: 3_000 };
/** Tickets that are in work together do not count as a lead. */
const leeway = 6;

let last = "";
for (let kill = 1; kill <= kills; kill++) {
  // Draw all random numbers, used or not: the same seed then gives the same sequence.
  const [starts, life, whole] = [random.next(), random.next(), random.next()];
  const isStarting = starts < 0.15;
  const pid = await another(isStarting ? "starts" : "listens");
  const maxLife = isStarting ? maxLives.starting : maxLives[lead(kill)];
  await sleep(life * maxLife);
  // Kill the daemon alone, so that git continues without it, or both.
  const below = whole < 0.3 ? gitsBelow(pid) : [];
  for (const each of [pid, ...below]) signalIfThere(each, "SIGKILL");
  last = String(pid);
  process.stdout.write(
    `${JSON.stringify({ kill, pid, isStarting, life: Math.round(life * maxLife), below: below.length })}\n`,
  );
}

/** A daemon that was not killed yet and has reached this phase. */
async function another(far: string): Promise<number> {
  for (;;) {
    const [pid = "", state] = read().split(" ");
    if (pid !== "" && pid !== last && (state === far || state === "listens")) return Number(pid);
    await sleep(2);
  }
}

function read(): string {
  try {
    return readFileSync(daemonFile({ base }), "utf8");
  } catch {
    return "";
  }
}

function lead(kill: number): "ahead" | "behind" | "level" {
  const difference = closed() - (kill / kills) * tickets;
  if (difference > 0) return "ahead";
  return difference < -leeway ? "behind" : "level";
}

function closed(): number {
  const folder = join(repository, ".tickets");
  return readdirSync(folder).filter((file) => /^status: closed$/m.test(readFileSync(join(folder, file), "utf8")))
    .length;
}

/** The git processes that it has started, with their children; other children outlive it. */
function gitsBelow(pid: number): readonly number[] {
  const { childrenOf, below } = readProcessTree();
  return childrenOf(pid)
    .filter((child) => nameOf(child).startsWith("git"))
    .flatMap((git) => [git, ...below(git)]);
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}
