import { formatProblem, type Problem } from "../../../engine/language/problem.ts";
import { findWorkflow } from "../../../home/workflows.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { exitCodes } from "../../exit-code.ts";
import { loadFound, referenceTo } from "../../load-found.ts";
import { writeJson } from "../../write-json.ts";

export function validate(this: Context, { json }: { json: boolean }, ...references: string[]) {
  const all = references.map((reference) => findWorkflow(this, reference));
  const checked = all.map((found) => ({ found, ...loadFound(found, this) }));
  if (checked.some(({ workflow }) => workflow === undefined)) this.process.exitCode = exitCodes.failed;
  if (json) {
    const workflows = checked.map(({ found, workflow, problems }) => ({
      name: found.name,
      file: found.file,
      ok: workflow !== undefined,
      problems,
    }));
    return this.print(writeJson({ workflows }));
  }
  for (const { problems } of checked) for (const problem of problems) this.print(writeProblem(this, problem));
  for (const { found, workflow, problems } of checked) {
    const errors = problems.filter(({ level }) => level === "error").length;
    const summary = `${found.name}: ${count(errors, "error")}, ${count(problems.length - errors, "warning")}`;
    this.print(workflow === undefined ? this.paint.red(summary) : this.paint.green(summary));
  }
  const sound = checked.filter(({ workflow }) => workflow !== undefined);
  if (sound.length > 0 && sound.length === checked.length) {
    this.say(`To prove that every task can end: signalbox workflow verify ${all.map(referenceTo).join(" ")}`);
  }
}

/** As editors read it: one line, the place first. */
export function writeProblem({ paint }: Pick<Context, "paint">, problem: Problem): string {
  const colour = problem.level === "error" ? paint.red : paint.yellow;
  return formatProblem(problem).replace(` ${problem.level}: `, () => ` ${colour(`${problem.level}:`)} `);
}
