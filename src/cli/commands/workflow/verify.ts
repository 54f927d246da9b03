import { join } from "node:path";
import { routeMermaid, routeText } from "../../../engine/draw/route.ts";
import { writeStep } from "../../../engine/explore/step.ts";
import type { Loaded } from "../../../engine/language/load.ts";
import type { Finding } from "../../../engine/verify/finding.ts";
import { verify as prove, type Verification } from "../../../engine/verify/verify.ts";
import type { Workflow } from "../../../engine/workflow.ts";
import { makeFolder } from "../../../home/make-folder.ts";
import { type Found, findWorkflow } from "../../../home/workflows.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { routeOf, saveExample } from "../../counterexample.ts";
import { exitCodes } from "../../exit-code.ts";
import { loadFound } from "../../load-found.ts";
import { shellWord } from "../../shell-word.ts";
import { writeFinding } from "../../write-finding.ts";
import { writeJson } from "../../write-json.ts";
import { writeProblem } from "./validate.ts";

export interface VerifyFlags {
  readonly notes: boolean;
  readonly save?: string;
  readonly json: boolean;
}

interface Verified extends Loaded {
  readonly found: Found;
  readonly verification: Verification | undefined;
  /** Where the example of a finding lies. */
  readonly saved: ReadonlyMap<Finding, string>;
}

export function verify(this: Context, flags: VerifyFlags, ...references: string[]) {
  const all = references.map((reference) => findWorkflow(this, reference));
  const names = new Set<string>();
  const results = all.map((found): Verified => {
    const loaded = loadFound(found, this);
    const verification = loaded.workflow && prove(loaded.workflow, loaded.problems);
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
  const isHidden = results.some(({ verification }) => verification?.findings.some(({ level }) => level === "note"));
  if (isHidden && !flags.notes) this.say("Notes are shown with --notes.");
}

function writeResult(context: Context, { found, workflow, problems, verification }: Verified, notes: boolean): string {
  const { paint } = context;
  if (workflow === undefined || verification === undefined) {
    const errors = problems.filter(({ level }) => level === "error").length;
    const last = `${found.name}: not loaded; ${count(errors, "error")}, ${count(problems.length - errors, "warning")}`;
    return [...problems.map((problem) => writeProblem(context, problem)), paint.red(last)].join("\n");
  }
  const { findings, positions, steps, variants, proved, unexplored } = verification;
  const shown = findings.filter(({ level }) => notes || level !== "note");
  const of = (level: Finding["level"]) => count(findings.filter((finding) => finding.level === level).length, level);
  const explored = `${count(positions, "position")}, ${count(steps, "step")}, ${count(variants, "variant")}`;
  const hidden = unexplored.length === 0 ? "" : `: ${count(unexplored.length, "thing")} not explored`;
  const last = `${found.name}: ${proved ? "proved" : `not proved${hidden}`} (${explored}); ${of("error")}, ${of("warning")}, ${of("note")}`;
  return [
    ...shown.flatMap((finding) => [...writeFinding(workflow, finding, context), ""]),
    proved ? paint.green(last) : paint.red(last),
  ].join("\n");
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
    problems,
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
