import { join } from "node:path";
import { routeMermaid, routeText } from "../../engine/draw/route.ts";
import { writeStep } from "../../engine/explore/step.ts";
import type { Loaded } from "../../engine/language/load.ts";
import type { Life } from "../../engine/simulate/live.ts";
import { simulate as rehearse, type Simulation } from "../../engine/simulate/simulate.ts";
import type { Finding } from "../../engine/verify/finding.ts";
import { type Progress, verify as prove, type Verification } from "../../engine/verify/verify.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { makeFolder } from "../../home/make-folder.ts";
import { type Found, findWorkflow } from "../../home/workflows.ts";
import { shellWord } from "../../shell-quote.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../fast/tell.ts";
import {
  childrenOf,
  followSaved,
  loadFound,
  loadSound,
  routeOf,
  saveExample,
  traceDocument,
  writeFinding,
  writeProblem,
  writeTrace,
} from "../findings.ts";
import { writeTable } from "../tables.ts";
import { count, writeJson } from "../text.ts";
import { command } from "./command.ts";
import { exitCodeHelp, flag, json, reference, wholeNumber, workflows } from "./parameters.ts";
import { checkPreset, readSettingFlags } from "./task-create.ts";

export const simulate = command({
  isForRuns: true,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ ...reference, optional: true, brief: `${reference.brief}; not needed with --follow` }],
    },
    flags: {
      runs: {
        kind: "parsed",
        parse: wholeNumber(1, 1_000_000),
        placeholder: "N",
        brief: "How many random tasks (lives) to simulate",
        default: "1000",
      },
      seed: {
        kind: "parsed",
        parse: wholeNumber(0, 2 ** 32 - 1),
        placeholder: "S",
        brief: "The same seed gives the same lives",
        default: "1",
      },
      preset: {
        kind: "parsed",
        parse: String,
        optional: true,
        placeholder: "P",
        brief: "Use this preset; otherwise each life uses a random one",
      },
      set: {
        kind: "parsed",
        parse: String,
        variadic: true,
        optional: true,
        placeholder: "NAME=VALUE",
        brief: "Set a setting; may be given several times",
      },
      trace: flag("Print the first life step by step (as --runs 1 does)"),
      prompts: flag("Print whole prompts in the life that is printed"),
      follow: {
        kind: "parsed",
        parse: String,
        optional: true,
        placeholder: "FILE",
        brief: "Follow a counterexample that verify saved",
      },
      json,
    },
  },
  docs: {
    brief: "Simulate a workflow: run random tasks through everything that can happen",
    fullDescription: `Needs no agent, no network and no tokens. Effects are printed, never performed.

Examples:
  signalbox workflow simulate default --runs 1
  signalbox workflow simulate pipeline --preset quick-fix --set auto_merge=true
  signalbox workflow simulate --follow found/my-flow-wedge-1.json

--json: { workflow, runs, seed, steps, ends, wedged, cut, violations, coverage: [{ from, to, times }],
  trace: [{ text, from, to, cause, held, step, effects }] }
with --follow: { workflow, code, steps (as in trace), circle, asSaid, problem, ends, breaks }
Exit codes: 0 ok, 1 a life was wedged, an invariant was broken, or the example did not end as verify said, 2 wrong usage, 3 no such workflow or file`,
  },
  func(flags, reference) {
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
  },
});

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
    // A single life covers too little for this list.
    ...(runs === 1 ? [] : missed).map(({ from, to }) => `  never     ${from} → ${to}`),
    `violations  ${violations.length === 0 ? "none" : violations.length}`,
    ...violations.map((violation) => `  ${paint.red(violation)}`),
  ].join("\n");
}

interface Verified extends Loaded {
  readonly found: Found;
  readonly verification: Verification | undefined;
  /** The file of each finding's example. */
  readonly saved: ReadonlyMap<Finding, string>;
}

export const verify = command({
  isForRuns: true,
  parameters: {
    positional: workflows,
    flags: {
      notes: flag("Show notes too, not only errors and warnings"),
      save: {
        kind: "parsed",
        parse: String,
        optional: true,
        placeholder: "DIR",
        brief: "Write each counterexample into this folder",
      },
      json,
    },
  },
  docs: {
    brief: "Prove that every task can reach an end, or show how one cannot",
    fullDescription: `Explores every position that a task can reach, with the engine that moves real tasks. Each finding has the shortest example: numbered steps and the route (↻ marks a cycle). Each promise of the file is proved, or there is the shortest life that breaks it.

--json: { workflows: [{ name, file, hash, proved, positions, steps, variants, settings, problems,
  promises: [{ promise, result: proved|broken|unproved }], suggested: [{ to, promises }],
  findings: [{ level, code, state, message, fix, example, steps, route, mermaid, saved }] }] }
${exitCodeHelp("a workflow is not proved")}`,
  },
  func(flags, ...references) {
    const all = references.map((reference) => findWorkflow(this, reference));
    const names = new Set<string>();
    const results = all.map((found): Verified => {
      const loaded = loadFound(found, this);
      const shown = showProgress(this, found.name);
      const verification =
        loaded.workflow &&
        prove(loaded.workflow, loaded.problems, { ...childrenOf(found, this), progress: shown.progress });
      shown.end();
      const wanted = verification?.findings.filter(({ level }) => flags.notes || level !== "note") ?? [];
      const saved =
        flags.save === undefined ? new Map<Finding, string>() : saveExamples(flags.save, found, wanted, names);
      return { found, ...loaded, verification, saved };
    });
    if (results.some(({ verification }) => verification?.proved !== true)) this.process.exitCode = exitCodes.failed;
    if (flags.json) return this.print(writeJson({ workflows: results.map(resultDocument) }));

    for (const result of results) this.print(writeResult(this, result, flags.notes));
    for (const { saved } of results) {
      for (const path of saved.values())
        this.say(`To follow it: signalbox workflow simulate --follow ${shellWord(path)}`);
    }
    if (flags.save !== undefined && results.every(({ saved }) => saved.size === 0)) {
      this.say("There is no counterexample to save.");
    }
    for (const { verification } of results)
      for (const { to, promises } of verification?.suggested ?? []) this.say(writeSuggestion(to, promises));
    const isHidden = results.some(({ verification }) => verification?.findings.some(({ level }) => level === "note"));
    if (isHidden && !flags.notes) this.say("Notes are shown with --notes.");
  },
});

/** On a terminal, shows how far a long exploration is, in a line that disappears in the end. */
function showProgress({ process: { stderr } }: Context, name: string) {
  const began = performance.now();
  let last = 0;
  return {
    progress({ positions, variant, variants }: Progress) {
      const now = performance.now();
      const { isTTY } = stderr as Partial<NodeJS.WriteStream>;
      if (isTTY !== true || now - began < progressAfter || now - last < progressInterval) return;
      last = now;
      const of = variants === 1 ? "" : `, variant ${variant} of ${variants}`;
      stderr.write(`\r${name}: ${count(positions, "position")} explored${of} …\u001b[K`);
    },
    end() {
      if (last > 0) stderr.write("\r\u001b[K");
    },
  };
}

/** In milliseconds. */
const progressAfter = 1_000;
const progressInterval = 200;

function writeResult(context: Context, { found, workflow, problems, verification }: Verified, notes: boolean): string {
  const { paint } = context;
  if (workflow === undefined || verification === undefined) {
    const errors = problems.filter(({ level }) => level === "error").length;
    const last = `${found.name}: not loaded; ${count(errors, "error")}, ${count(problems.length - errors, "warning")}`;
    return [...problems.map((problem) => writeProblem(context, problem)), paint.red(last)].join("\n");
  }
  const { findings, positions, steps, variants, proved, promises, unexplored } = verification;
  const shown = findings.filter(({ level }) => notes || level !== "note");
  const of = (level: Finding["level"]) => count(findings.filter((finding) => finding.level === level).length, level);
  const explored = `${count(positions, "position")}, ${count(steps, "step")}, ${count(variants, "variant")}`;
  const hidden = unexplored.length === 0 ? "" : `: ${count(unexplored.length, "thing")} not explored`;
  const last = `${found.name}: ${proved ? "proved" : `not proved${hidden}`} (${explored}); ${of("error")}, ${of("warning")}, ${of("note")}`;
  return [
    ...shown.flatMap((finding) => [...writeFinding(workflow, finding, context), ""]),
    ...promises.map(({ promise, result }) => `${writePromiseResult(result, positions, paint)} ${promise}`),
    proved ? paint.green(last) : paint.red(last),
  ].join("\n");
}

function writePromiseResult(
  result: Verification["promises"][number]["result"],
  positions: number,
  { green, red, yellow }: Context["paint"],
): string {
  if (result === "unproved") return yellow(`not proved, explored up to ${count(positions, "position")}:`);
  return result === "proved" ? green("promise proved") : red("promise broken");
}

function writeSuggestion(to: string, promises: readonly string[]): string {
  const lines = promises.map((promise) => `  - ${promise}`);
  return `No promise of the file is about "${to}". These hold today; state those that must go on to hold:\npromises:\n${lines.join("\n")}`;
}

function saveExamples(
  folder: string,
  found: Found,
  findings: readonly Finding[],
  names: Set<string>,
): ReadonlyMap<Finding, string> {
  const saved = new Map<Finding, string>();
  if (findings.some(({ example }) => example !== undefined)) makeFolder(folder);
  for (const finding of findings) {
    if (finding.example === undefined) continue;
    const base = `${found.name.replace(/[^\w.-]/g, "_")}-${finding.code}`;
    let n = 1;
    while (names.has(`${base}-${n}`)) n++;
    names.add(`${base}-${n}`);
    const path = join(folder, `${base}-${n}.json`);
    saveExample(path, finding.example, found.file);
    saved.set(finding, path);
  }
  return saved;
}

function resultDocument({ found, workflow, problems, verification, saved }: Verified) {
  return {
    name: found.name,
    file: found.file,
    hash: workflow?.hash,
    proved: verification?.proved ?? false,
    positions: verification?.positions ?? 0,
    steps: verification?.steps ?? 0,
    variants: verification?.variants ?? 0,
    // What was covered: the values that were tried of each setting that decisions depend on.
    settings: verification?.settings ?? {},
    problems,
    promises: verification?.promises ?? [],
    suggested: verification?.suggested ?? [],
    findings: verification?.findings.map((finding) => findingDocument(workflow, finding, saved.get(finding))) ?? [],
  };
}

function findingDocument(workflow: Workflow | undefined, finding: Finding, saved: string | undefined) {
  const { example } = finding;
  const followed = workflow && example && routeOf(workflow, example);
  return {
    ...finding,
    steps: example?.steps.map(writeStep),
    route: followed && routeText(followed.route),
    mermaid: followed && routeMermaid(followed.route),
    saved,
  };
}
