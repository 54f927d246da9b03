import { readFileSync } from "node:fs";
import { loadWorkflow } from "../engine/language/load.ts";
import { verify } from "../engine/verify/verify.ts";
import type { Context } from "./context.ts";

/** A workflow that only loads may run; whoever uses it should know that tasks can get stuck in it. */
export function warnUnproved({ say, talkPaint }: Context, { from, file }: { from: string; file: string }): void {
  // Built-in ones are proved by our own tests.
  if (from === "built-in") return;
  const { workflow } = loadWorkflow(readFileSync(file, "utf8"), file);
  const { findings, unexplored } = workflow === undefined ? { findings: [], unexplored: [] } : verify(workflow);
  const first = findings.find(({ level }) => level === "error") ?? unexplored[0];
  if (first === undefined) return;
  say(`${talkPaint.yellow("warning:")} This workflow is not proved: ${first.message}`);
  say(`To see how: signalbox workflow verify ${file}`);
}
