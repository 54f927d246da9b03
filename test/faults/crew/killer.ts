// A process of its own that kills a daemon again and again: node killer.ts FOLDER REPOSITORY KILLS SEED TICKETS
// For each kill it prints a line of JSON. It kills faster while the tickets are ahead, so that both come to an end together.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "../../../src/engine/simulate/random.ts";
import { daemonFile } from "./keep-daemon.ts";

const [base = "", repository = "", ...numbers] = process.argv.slice(2);
const [kills = 0, seed = 0, tickets = 1] = numbers.map(Number);
const random = createRandom(seed);
/** The longest lives, in milliseconds: while it starts, while tickets are ahead, otherwise. */
const longest = { starting: 400, hurried: 700, usual: 3_000 };

let last = "";
for (let kill = 1; kill <= kills; kill++) {
  // All lots are drawn, whatever comes of them: the same seed gives the same ones.
  const [starts, life, whole] = [random.next(), random.next(), random.next()];
  const isStarting = starts < 0.15;
  const pid = await another(isStarting ? "starts" : "listens");
  const isAhead = closed() / tickets > kill / kills;
  const most = isStarting ? longest.starting : isAhead ? longest.hurried : longest.usual;
  await sleep(life * most);
  // The daemon alone, so that git goes on without it; or also what it has started and not let go.
  const below = whole < 0.3 ? companyOf(pid) : [];
  for (const each of [pid, ...below]) end(each);
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

function closed(): number {
  const folder = join(repository, ".tickets");
  return readdirSync(folder).filter((file) => /^status: closed$/m.test(readFileSync(join(folder, file), "utf8")))
    .length;
}

/** Processes of its session, which ends with a crash of the machine: git, tests. Agents have sessions of their own. */
function companyOf(pid: number): readonly number[] {
  const session = sessionOf(String(pid));
  return readdirSync("/proc").flatMap((name) =>
    /^\d+$/.test(name) && Number(name) !== pid && sessionOf(name) === session && isBelow(name, pid)
      ? [Number(name)]
      : [],
  );
}

function isBelow(name: string, pid: number): boolean {
  for (let at = name; Number(at) > 1; ) {
    at = fieldsOf(at)[1] ?? "0";
    if (Number(at) === pid) return true;
  }
  return false;
}

function sessionOf(name: string): string | undefined {
  return fieldsOf(name)[3];
}

/** State, parent, group and session stand behind the name, which may have anything in it. */
function fieldsOf(name: string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${name}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
