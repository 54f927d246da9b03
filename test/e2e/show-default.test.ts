import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { launcher } from "../programs.ts";
import { decided, rows } from "../seed-000-table.ts";

interface ShownWay {
  readonly from: string;
  readonly to: string;
  readonly by: readonly string[] | null;
  readonly when: readonly string[];
  readonly gates: readonly { readonly section: string; readonly verdict: string | null }[];
  readonly hooks: readonly { readonly action: string; readonly params: Readonly<Record<string, unknown>> }[];
  readonly implied: string | null;
  readonly effects: readonly string[];
  readonly runs: {
    readonly ended: readonly string[];
    readonly started: readonly string[];
    readonly told: readonly string[];
  };
}

const signalbox = launcher;

test("what `workflow show default --json` prints is the seed's table, row by row", () => {
  const shown = JSON.parse(execFileSync(signalbox, ["workflow", "show", "default", "--json"], { encoding: "utf8" }));
  const ways = (shown.ways as readonly ShownWay[]).filter((way) => way.implied === null && way.by?.join() !== "engine");
  const table = rows();
  expect(ways.map((way) => `${way.from} → ${way.to}`).sort()).toEqual(table.map((row) => row.pair).sort());
  for (const row of table) {
    const way = ways.find((each) => `${each.from} → ${each.to}` === row.pair) as ShownWay;
    expect([row.pair, gateText(way)]).toEqual([row.pair, row.gate]);
    // Cleaning up without a live run or a workspace has no effect.
    const more = decided[row.pair]?.more ?? [];
    expect([row.pair, [...effectsOf(way)].sort()]).toEqual([row.pair, [...row.effects, ...more].sort()]);
  }
});

function gateText({ gates: [gate], when }: ShownWay): string {
  if (gate === undefined) return "";
  const verdict = gate.verdict === null ? " valid" : `, Verdict: ${gate.verdict}`;
  const round = when.map((guard) => `, ${guard.replace("review_round", "round").replace(">=", "≥")}`);
  return `## ${gate.section}${verdict}${round.join("")}`;
}

/** In the seed's terms: runs that are ended, started and sent a message, the other hooks, the counters. */
function effectsOf({ hooks, effects, runs }: ShownWay): readonly string[] {
  const agents = ["spawn_agent", "kill_agent", "notify_agent"];
  return [
    ...runs.ended.map((role) => `kill_${role}`),
    ...runs.started.map((role) => (role === "reviewer" ? "spawn_reviewer" : `spawn_agent(${role})`)),
    ...runs.told.map((role) => `notify_${role}`),
    ...effects.filter((action) => !agents.includes(action)),
    ...hooks
      .filter(({ params }) => params.field !== undefined)
      .map(({ action, params }) => `${action} ${String(params.field)}`),
  ];
}
