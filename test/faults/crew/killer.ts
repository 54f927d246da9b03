// A process of its own that kills a daemon again and again: node killer.ts FOLDER REPOSITORY KILLS SEED TICKETS
// For each kill it prints a line of JSON. It kills the faster the more tickets are closed, so that both come to an end together.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "../../../src/engine/simulate/random.ts";
import { readProcessTree, signalIfThere } from "../../process-tree.ts";
import { daemonFile } from "./keep-daemon.ts";

const [base = "", repository = "", ...numbers] = process.argv.slice(2);
const [kills = 0, seed = 0, tickets = 1] = numbers.map(Number);
const random = createRandom(seed);
/** The longest lives, in milliseconds: while it starts, while tickets are ahead of kills, behind them, and about as far. */
const longest = { starting: 400, ahead: 700, behind: 9_000, level: 3_000 };
/** As many tickets as are at work at once are no lead. */
const leeway = 6;

let last = "";
for (let kill = 1; kill <= kills; kill++) {
  // All lots are drawn, whatever comes of them: the same seed gives the same ones.
  const [starts, life, whole] = [random.next(), random.next(), random.next()];
  const isStarting = starts < 0.15;
  const pid = await another(isStarting ? "starts" : "listens");
  const most = isStarting ? longest.starting : longest[lead(kill)];
  await sleep(life * most);
  // The daemon alone, so that git goes on without it; or both.
  const below = whole < 0.3 ? gitsBelow(pid) : [];
  for (const each of [pid, ...below]) signalIfThere(each, "SIGKILL");
  last = String(pid);
  process.stdout.write(
    `${JSON.stringify({ kill, pid, isStarting, life: Math.round(life * most), below: below.length })}\n`,
  );
}

/** A daemon that was not killed yet and has come so far. */
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

/** The gits that it has started, with theirs: what else it has started outlives it. */
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
