import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Effect } from "../../src/engine/decision.ts";
import { explore, type Graph } from "../../src/engine/explore/graph.ts";
import { takeStep } from "../../src/engine/explore/world.ts";
import { writeGuard } from "../../src/engine/when.ts";
import type { Way, Workflow } from "../../src/engine/workflow.ts";
import { decided, rows } from "../seed-000-table.ts";
import { builtIn } from "./drive.ts";

const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8");

/** A gate in the words of the seed's table. */
function gateText(way: Way): string {
  const [gate] = way.gates;
  if (gate === undefined) return "";
  const verdict = gate.verdict === undefined ? " valid" : `, Verdict: ${gate.verdict}`;
  const round = way.when.map((guard) => writeGuard(guard).replace("review_round", ", round").replace(">=", "≥"));
  return `## ${gate.section}${verdict}${round.join("")}`.replace(" ,", ",");
}

const explored = new Map<Workflow, Graph>();

function exploredOnce(workflow: Workflow): Graph {
  const graph = explored.get(workflow) ?? explore(workflow, "", {}, { mishaps: false });
  explored.set(workflow, graph);
  return graph;
}

/** The effects of a way from an ordinary position: the hooks, and the runs that entering and leaving start and end. */
function effectsOf(workflow: Workflow, way: Way): readonly string[] {
  const graph = exploredOnce(workflow);
  const ordinary = graph.edges
    .filter(
      (edge) =>
        edge.step.what === "move" && graph.nodes[edge.from]?.world.task.status === way.from && edge.step.to === way.to,
    )
    .map((edge) => ({ edge, world: graph.nodes[edge.from]?.world }))
    .filter(({ world }) => world !== undefined && (way.from === "pending" || world.task.runs.worker !== undefined))
    .filter(({ world }) => world?.task.phase === "waiting" && world.task.held === undefined);
  const [first] = ordinary;
  if (first?.world === undefined) throw new Error(`Nobody takes ${way.from} → ${way.to}.`);
  const taken = takeStep(workflow, first.world, first.edge.step);
  const counters = way.hooks
    .filter((hook) => hook.name === "increment" || hook.name === "set_field")
    .map((hook) => `${hook.name} ${String(hook.params.field)}`);
  return [...(taken?.effects ?? []).map(nameInSeed), ...counters];
}

/** The seed's name of an effect. */
function nameInSeed({ action, agent, params }: Effect): string {
  if (action === "spawn_agent") return agent?.role === "reviewer" ? "spawn_reviewer" : "spawn_agent(worker)";
  if (action === "kill_agent") return `kill_${String(params.role)}`;
  if (action === "notify_agent") return `notify_${agent?.role}`;
  return action;
}

test("the ways, gates and effects of default are the twenty rows of the seed's table", () => {
  const workflow = builtIn("default");
  const asked = workflow.ways.filter(
    (way) => way.implied === undefined && !(way.by?.length === 1 && way.by[0] === "engine"),
  );
  const table = rows();
  expect(table).toHaveLength(20);
  expect(asked.map((way) => `${way.from} → ${way.to}`).sort()).toEqual(table.map((row) => row.pair).sort());
  for (const row of table) {
    const way = asked.find((each) => `${each.from} → ${each.to}` === row.pair) as Way;
    expect([row.pair, gateText(way)]).toEqual([row.pair, row.gate]);
    const more = decided[row.pair]?.more ?? [];
    expect([row.pair, [...effectsOf(workflow, way)].sort()]).toEqual([row.pair, [...row.effects, ...more].sort()]);
  }
});

test("every other pair of states of default is refused to every role", () => {
  const workflow = builtIn("default");
  const allowed = new Set(rows().map((row) => row.pair));
  const names = Object.keys(workflow.states);
  expect(names.length ** 2 - allowed.size).toBe(61);
  const graph = exploredOnce(workflow);
  for (const { world } of graph.nodes) {
    for (const to of names) {
      if (allowed.has(`${world.task.status} → ${to}`)) continue;
      for (const by of ["human", ...Object.keys(world.task.runs)]) {
        expect(
          takeStep(workflow, { ...world, task: { ...world.task, attended: true } }, { what: "move", by, to }),
        ).toBeUndefined();
      }
    }
  }
});

test("the ways of pipeline are the seed's map, plus cancelling and the ways back from the fixer and from a pull request that cannot be merged", () => {
  const text = fixture("seed-003.md");
  const body = text.split("const stageTransitions: Record<IssueStage, IssueStage[]> = {")[1]?.split("};")[0] ?? "";
  const map = [...body.matchAll(/^\s*([A-Z_]+): \[([^\]]*)\]/gm)].flatMap(([, from = "", to = ""]) =>
    [...to.matchAll(/'([A-Z_]+)'/g)].map(([, target = ""]) => `${from} → ${target}`),
  );
  expect(map).toHaveLength(17);
  const workflow = builtIn("pipeline");
  const open = Object.values(workflow.states).filter((state) => !state.terminal);
  const cancelled = Object.values(workflow.states).find((state) => state.outcome === "cancelled")?.name;
  const back = ["FIXER → PR_HUMAN_REVIEW", "MERGE_READY → IMPLEMENT", "MERGE_READY → PR_REVIEW"];
  const expected = [...map, ...back, ...open.map((state) => `${state.name} → ${cancelled}`)];
  const actual = [...new Set(workflow.ways.map((way) => `${way.from} → ${way.to}`))];
  expect(actual.sort()).toEqual(expected.sort());
});

test("pipeline has the seed's presets: their stages, their models, their tools", () => {
  const text = fixture("seed-003.md");
  const tier = (model: string) => (model === "gpt-4o" ? "large" : "small");
  const workflow = builtIn("pipeline");
  const presets = text.split("const builtInPresets")[1]?.split("## Branch Naming")[0] ?? "";
  for (const [name, preset] of Object.entries(workflow.presets)) {
    const body = presets.split(`'${name}': {`)[1]?.split("\n  },")[0] ?? "";
    expect(preset.spec).toBe(body.includes("'SPEC_REVIEW'"));
    const models = preset.models as Record<string, string>;
    expect(models.default).toBe(tier(/default: '([^']+)'/.exec(body)?.[1] ?? ""));
    for (const [, stage = "", model = ""] of (body.split("overrides: {")[1]?.split("}")[0] ?? "").matchAll(
      /([A-Z_]+): '([^']+)'/g,
    )) {
      expect([name, stage, models[stage] ?? models.default]).toEqual([name, stage, tier(model)]);
    }
  }
  const tools = text.split("const stageTools")[1]?.split("};")[0] ?? "";
  for (const [, stage = "", list = ""] of tools.matchAll(/([A-Z_]+): \[\.\.\.baseTools,([^\]]*)\]/g)) {
    const wait = workflow.states[stage]?.wait;
    const run = wait?.kind === "agent" ? wait.run : wait?.kind === "panel" ? wait.member : undefined;
    const named = [...list.matchAll(/'([A-Za-z]+)'/g)].map(([, tool = ""]) => tool);
    expect([stage, run?.tools]).toEqual([stage, ["comment", "stage_message", "work_complete", ...named]]);
  }
});

test("crew has the limits of the seed's tables", () => {
  const text = fixture("seed-004.md");
  const wait = builtIn("crew").states.working?.wait;
  const limits = wait?.kind === "agent" ? wait.run.limits : {};
  const [, steps, errors, stall] = /step_limit=(\d+), error_limit=(\d+), stall_minutes=(\d+)/.exec(text) ?? [];
  expect([limits.steps, limits.attempts, limits.stall]).toEqual([Number(steps), Number(errors), Number(stall) * 60]);
  const waits = [...text.matchAll(/^ +\d\+? +│ +(\d+) seconds/gm)].map(([, seconds]) => Number(seconds));
  expect(waits).toEqual([2, 4, 8, 16, 32, 60]);
  const { first = 0, factor = 0, max = 0 } = limits.backoff ?? {};
  expect(waits).toEqual(waits.map((_, i) => Math.min(first * factor ** i, max)));
});
