import { simulate } from "../../engine/simulate/simulate.ts";
import { verify } from "../../engine/verify/verify.ts";
import type { Outcome } from "../../engine/workflow.ts";
import { builtInWorkflows, type Found } from "../../home/workflows.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../exit-code.ts";
import { loadFound } from "../load-found.ts";
import { ownCommand } from "../own-command.ts";
import { writeTable } from "../table.ts";
import { writeJson } from "../write-json.ts";

const outcomes: readonly Outcome[] = ["done", "failed", "cancelled"];

export interface RehearseFlags {
  readonly runs: number;
  readonly seed: number;
  readonly json: boolean;
}

export function rehearse(this: Context, flags: RehearseFlags) {
  const { paint, columns } = this;
  if (!flags.json) this.say("Proving every built-in workflow, then rehearsing it without an agent …\n");
  const rows = builtInWorkflows().map((found) => rehearseOne(found, flags));
  const isSound = (row: Row | undefined) => row?.proved === true && row.wedged === 0 && row.violations.length === 0;
  if (!rows.every(isSound)) this.process.exitCode = exitCodes.failed;
  if (flags.json) return this.print(writeJson({ workflows: rows }));

  const right = { align: "right" } as const;
  const table = [
    { title: "WORKFLOW", paint: paint.bold },
    { title: "STATES", ...right },
    { title: "TRANSITIONS", ...right },
    {
      title: "PROVED",
      paint: (cell: string, row: number) => (isSound(rows[row]) ? paint.green(cell) : paint.red(cell)),
    },
    { title: "LIVES", ...right },
    ...outcomes.map((outcome) => ({ title: outcome.toUpperCase(), ...right })),
    { title: "COVERAGE", ...right },
  ];
  const cells = rows.map((row) => [
    row.name,
    String(row.states),
    String(row.transitions),
    row.proved ? "yes" : "no",
    String(row.lives),
    ...outcomes.map((outcome) => String(row.ended[outcome])),
    `${row.covered} of ${row.transitions}`,
  ]);
  this.print(writeTable(table, cells, columns));
  for (const { name, wedged, violations } of rows) {
    if (wedged > 0) this.print(paint.red(`${name}: ${wedged} lives got stuck`));
    for (const violation of violations) this.print(paint.red(`${name}: ${violation}`));
  }
  if (rows.every(isSound)) {
    this.say("\nProved: from every position a task can get into an end can be reached, and every circle is bounded.");
  }
  const command = ownCommand(this.process.env?.PATH);
  this.say(`
Try next:
  ${command} workflow show default               read a workflow
  ${command} workflow graph default              draw it
  ${command} workflow simulate default --runs 1  watch one task live
  ${command} workflow verify classic             see what a proof finds
  ${command} workflow eject default my-flow      make your own`);
}

type Row = ReturnType<typeof rehearseOne>;

function rehearseOne(found: Found, { runs, seed }: RehearseFlags) {
  const { workflow, problems } = loadFound(found);
  const ended: Record<Outcome, number> = { done: 0, failed: 0, cancelled: 0 };
  const verification = workflow && verify(workflow, problems);
  const simulation = workflow && simulate(workflow, { runs, seed });
  for (const [state, lives] of Object.entries(simulation?.ends ?? {})) {
    const outcome = workflow?.states[state]?.outcome;
    if (outcome !== undefined) ended[outcome] += lives;
  }
  const coverage = simulation?.coverage ?? [];
  return {
    name: found.name,
    states: Object.keys(workflow?.states ?? {}).length,
    transitions: coverage.length,
    proved: verification?.proved ?? false,
    lives: simulation?.runs ?? 0,
    ended,
    wedged: simulation?.wedged ?? 0,
    cut: simulation?.cut ?? 0,
    covered: coverage.filter(({ times }) => times > 0).length,
    violations: simulation?.violations ?? [],
  };
}
