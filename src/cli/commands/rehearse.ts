import { simulate } from "../../engine/simulate/simulate.ts";
import { verify } from "../../engine/verify/verify.ts";
import type { Outcome } from "../../engine/workflow.ts";
import { builtInWorkflows, type Found } from "../../home/workflows.ts";
import { exitCodes } from "../fast/tell.ts";
import { loadFound } from "../findings.ts";
import { ownCommand } from "../start-daemon.ts";
import { writeTable } from "../tables.ts";
import { writeJson } from "../text.ts";
import { command, type FlagsOf } from "./command.ts";
import { json, wholeNumber } from "./parameters.ts";

const outcomes: readonly Outcome[] = ["done", "failed", "cancelled"];

const rehearseFlags = {
  runs: {
    kind: "parsed",
    parse: wholeNumber(1, 1_000_000),
    placeholder: "N",
    brief: "How many random tasks (lives) to simulate for each workflow",
    default: "500",
  },
  seed: {
    kind: "parsed",
    parse: wholeNumber(0, 2 ** 32 - 1),
    placeholder: "S",
    brief: "The same seed gives the same lives",
    default: "7",
  },
  json,
} as const;

type RehearseFlags = FlagsOf<typeof rehearseFlags>;

export const rehearse = command({
  parameters: {
    flags: rehearseFlags,
  },
  docs: {
    brief: "Prove and rehearse every built-in workflow",
    fullDescription: `Needs no agent, no network and no tokens: the engine that moves real tasks is run with every event that can happen.

Exit codes: 0 all proved, 1 a workflow failed, 2 wrong usage`,
  },
  func(flags) {
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
      if (wedged > 0) this.print(paint.red(`${name}: ${wedged} lives were wedged`));
      for (const violation of violations) this.print(paint.red(`${name}: ${violation}`));
    }
    if (rows.every(isSound)) {
      this.say("\nProved: from every position that a task can reach, it can reach an end, and every cycle is bounded.");
    }
    const command = ownCommand(this.process.env?.PATH);
    this.say(`
Try next:
  ${command} workflow show default               read a workflow
  ${command} workflow graph default              draw it
  ${command} workflow simulate default --runs 1  watch one task live
  ${command} workflow verify classic             see what a proof finds
  ${command} workflow eject default my-flow      make your own`);
  },
});

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
