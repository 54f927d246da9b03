import { existsSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessEnd } from "../../ports/processes.ts";
import { endFamily } from "./end-family.ts";
import { keepLimits } from "./keep-limits.ts";
import { markEntry } from "./process-mark.ts";
import { killFile, newsOf } from "./run-records.ts";
import { sleep } from "./sleep.ts";
import { startProgram } from "./start-program.ts";
import type { Supervision } from "./supervision.ts";
import { systemProcessTable } from "./system-process-table.ts";

/**
 * Starts the program of a run that was claimed, and stays until it has ended, that is noted, and nothing lives that it
 * left behind: such a process might print for ever, with nobody to look after the limit.
 */
export async function supervise(run: Supervision): Promise<void> {
  const { folder, order, printed } = run;
  const news = newsOf(folder);
  touch(news);
  const program = await startProgram(run);
  if (program.kind === "failed") {
    await note(run, { code: undefined, signal: "", cause: "start", reason: program.reason });
    return rmSync(news, { force: true });
  }
  touch(news);
  let broken: "time" | "output" | "gone" | undefined;
  let hasExited = false;
  let ended: Promise<unknown> = Promise.resolve();
  const family = { head: program.identity, entry: markEntry(order.mark), keepsGroup: true };
  const table = systemProcessTable();
  // Who cannot be ended, because it is another user's by now, is nothing that we could note.
  const end = (grace: number) => endFamily(table, family, grace).catch(() => {});
  const stop = keepLimits(order, printed, {
    onGrowth: () => touch(news),
    onBroken(limit) {
      broken ??= limit;
      // Whoever floods is not given the time to go on with it.
      if (limit !== "time" && !hasExited) program.kill();
      ended = Promise.all([ended, end(limit === "time" ? order.grace : 0)]);
    },
  });
  const { code, signal } = await program.exit;
  hasExited = true;
  await ended;
  const isOver = printed.size() > order.outputLimit;
  if (isOver) printed.trim(order.outputLimit);
  await note(run, { code, signal, cause: causeOf(folder, isOver ? "output" : broken), reason: "" });
  rmSync(news, { force: true });
  await end(order.grace);
  await ended;
  stop();
  printed.trim(order.outputLimit);
}

function causeOf(folder: string, broken: "time" | "output" | "gone" | undefined): ProcessEnd["cause"] {
  if (existsSync(join(folder, killFile))) return "killed";
  return broken === "time" || broken === "output" ? broken : "exit";
}

/** Until it has worked: there is room for it, but a disk can fail in other ways, and for a while. */
async function note({ folder, printed, end }: Supervision, how: Omit<ProcessEnd, "kind" | "at">): Promise<void> {
  const at = Date.now();
  for (;;) {
    try {
      printed.sync();
      end.publish({ kind: "ended", ...how, at });
      return;
    } catch {
      if (!existsSync(folder)) return;
      await sleep(1_000);
    }
  }
}

/** Somebody may be watching. Where it does not work they find out for themselves. */
function touch(news: string): void {
  const now = new Date();
  try {
    utimesSync(news, now, now);
  } catch {
    try {
      writeFileSync(news, "", { mode: 0o600 });
    } catch {}
  }
}
