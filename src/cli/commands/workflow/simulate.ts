import type { Life } from "../../../engine/simulate/live.ts";
import { simulate as rehearse, type Simulation } from "../../../engine/simulate/simulate.ts";
import type { Workflow } from "../../../engine/workflow.ts";
import { Fault } from "../../../fault.ts";
import { findWorkflow } from "../../../home/workflows.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { exitCodes } from "../../exit-code.ts";
import { followSaved } from "../../follow-saved.ts";
import { loadSound } from "../../load-found.ts";
import { checkPreset, readSettingFlags } from "../../setting-flag.ts";
import { writeTable } from "../../table.ts";
import { writeJson } from "../../write-json.ts";
import { traceDocument, writeTrace } from "../../write-trace.ts";

export interface SimulateFlags {
  readonly runs: number;
  readonly seed: number;
  readonly preset?: string;
  readonly set?: readonly string[];
  readonly trace: boolean;
  readonly prompts: boolean;
  readonly follow?: string;
  readonly json: boolean;
}

export function simulate(this: Context, flags: SimulateFlags, reference?: string) {
  if (flags.follow !== undefined) return followSaved(this, flags.follow, reference, flags);
  if (reference === undefined) {
    throw new Fault("usage", "NAME|FILE is missing.", { hint: "For example: signalbox workflow simulate default" });
  }
  const found = findWorkflow(this, reference);
  const workflow = loadSound(found);
  checkPreset(workflow, flags.preset);
  let first: Life | undefined;
  const simulation = rehearse(workflow, {
    runs: flags.runs,
    seed: flags.seed,
    ...(flags.preset === undefined ? {} : { preset: flags.preset }),
    settings: readSettingFlags(workflow, flags.set ?? []),
    onLife: (life, index) => {
      if (index === 0) first = life;
    },
  });
  if (simulation.wedged > 0 || simulation.violations.length > 0) this.process.exitCode = exitCodes.failed;
  const life = flags.trace || flags.runs === 1 ? first : undefined;
  if (flags.json)
    return this.print(writeJson({ workflow: found.name, ...simulation, trace: life && traceDocument(life.steps) }));
  if (life !== undefined) this.print(`${writeLife(this, workflow, life, flags.prompts)}\n`);
  this.print(writeSimulation(this, found.name, simulation));
}

function writeLife({ columns, paint }: Context, workflow: Workflow, life: Life, wholePrompts: boolean): string {
  const { task } = life.last;
  const settings = Object.entries(task.settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const variant = [...(task.preset === "" ? [] : [`preset ${task.preset}`]), ...settings].join(", ");
  const ends = { over: "It ended", wedged: "It is wedged", cut: "It was still going on" }[life.end];
  return [
    `The first life is created in ${paint.cyan(life.steps[0]?.from ?? task.status)}${variant === "" ? "" : ` (${variant})`}`,
    ...writeTrace(life.steps, { workflow, columns, paint, wholePrompts }),
    `${ends} in ${paint.cyan(task.status)} after ${count(life.steps.length, "step")}.`,
  ].join("\n");
}

function writeSimulation({ paint, columns }: Context, name: string, simulation: Simulation): string {
  const { runs, seed, steps, ends, wedged, cut, violations, coverage } = simulation;
  const row = (title: string, lives: number) => [title, String(lives), `${((100 * lives) / runs).toFixed(1)} %`];
  const rows = [
    ...Object.entries(ends)
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .map(([state, lives]) => row(state, lives)),
    row("(wedged)", wedged),
    row("(cut off)", cut),
  ];
  const missed = coverage.filter(({ times }) => times === 0);
  return [
    paint.bold(`${name}: ${count(runs, "life").replace("lifes", "lives")}, ${count(steps, "step")}, seed ${seed}`),
    "",
    writeTable(
      [{ title: "ENDED IN" }, { title: "LIVES", align: "right" }, { title: "SHARE", align: "right" }],
      rows,
      columns,
    ),
    "",
    `coverage    ${coverage.length - missed.length} of ${count(coverage.length, "transition")}`,
    // A single life leaves out nearly everything.
    ...(runs === 1 ? [] : missed).map(({ from, to }) => `  never     ${from} → ${to}`),
    `violations  ${violations.length === 0 ? "none" : violations.length}`,
    ...violations.map((violation) => `  ${paint.red(violation)}`),
  ].join("\n");
}
