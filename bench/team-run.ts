// A plan of 60 items with a real daemon, real git and 8 scripted agents, which wait for seconds by the size of their part.
// The lower bound counts these waits alone. Everything else is overhead: starting agents, workspaces, commits, tests, merges.
// Most of it is processor time of git, so the figures mean something only on a machine that does nothing else.
import type { EventView } from "../src/api/tasks.ts";
import { weights } from "../src/engine/plan-order.ts";
import buildPrograms from "../test/build-programs.ts";
import { bound, drawItems, exactly, random } from "./plans.ts";

const agents = 8;
const count = 60;
/** Seconds that a part of size S takes, its review included. */
const unit = 6;
/** The share of that time that its review takes. */
const review = 0.2;

interface MeasuredRun {
  /** All in seconds. */
  readonly bound: number;
  readonly makespan: number;
  readonly makespanInWaves: number;
  /** What a part took besides its waits, on average. */
  readonly overhead: number;
}

/** Runs the same plan twice: each part as soon as its needs are done, and in waves. */
export async function runTeam(): Promise<MeasuredRun> {
  const remove = buildPrograms();
  // Imported after the build: these modules look for the built programs when they are loaded.
  const { openTeam } = await import("../test/scenarios/team-stage.ts");
  // With this seed an ideal order meets the bound, and waves take one and a half times as long.
  const items = drawItems(random(12), "layers", count, agents);
  const parts = items.map(({ id, needs, size }) => {
    const wait = (share: number) => ({ sleep: `${Math.round(unit * weights[size] * share * 1000)}ms` });
    const writes = { write: { file: `${id}.txt`, text: id } };
    return { id, needs, size, review: [wait(review)], steps: [wait(1 - review), writes] };
  });
  const measure = async (waves: boolean) => {
    const stage = await openTeam(parts, { poolSize: agents, config: "test_command: [git, --version]\n" });
    try {
      const id = await stage.begin({ agents, waves, skip_clarification: true });
      const { status, branch } = await stage.ends(id, 1_800_000);
      if (status !== "COMPLETED") throw new Error(`The plan ended in ${status}.`);
      const files = stage.git(stage.repository, "ls-tree", "--name-only", branch).split("\n");
      const missing = items.filter((item) => !files.includes(`${item.id}.txt`));
      if (missing.length > 0) throw new Error(`Not merged: ${missing.map((item) => item.id).join(", ")}`);
      const children = await stage.children(id);
      const busy = await Promise.all(
        children.map(async (child) => duration(await stage.events(child.id), "part.started")),
      );
      return { makespan: duration(await stage.events(id), "SUBTASK_IMPLEMENTING", "children.ended"), busy };
    } finally {
      await stage.close();
    }
  };
  try {
    const { makespan, busy } = await measure(false);
    const { makespan: makespanInWaves } = await measure(true);
    const waited = items.reduce((sum, { size }) => sum + unit * weights[size], 0);
    return {
      ...{ bound: unit * bound({ items, agents, durations: exactly(items) }), makespan, makespanInWaves },
      overhead: (busy.reduce((sum, each) => sum + each, 0) - waited) / count,
    };
  } finally {
    remove?.();
  }
}

/** The seconds from an event, or from entering a state, to another event, or to the last. */
function duration(events: readonly EventView[], from: string, to?: string): number {
  const begin = events.find(({ type, data }) => type === from || data.to === from);
  const end = to === undefined ? events.at(-1) : events.find(({ type }) => type === to);
  return (Date.parse(end?.at ?? "") - Date.parse(begin?.at ?? "")) / 1000;
}
