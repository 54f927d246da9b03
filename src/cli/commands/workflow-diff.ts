import {
  compareWorkflows,
  type Difference,
  droppedPromises,
  type WorkflowDifference,
} from "../../engine/compare-workflows.ts";
import { type Verification, verify } from "../../engine/verify/verify.ts";
import { findWorkflow } from "../../home/workflows.ts";
import { shellWord } from "../../shell-quote.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../fast/tell.ts";
import { loadSound } from "../findings.ts";
import { writeJson } from "../text.ts";
import { command } from "./command.ts";
import { json, reference } from "./parameters.ts";

export const diff = command({
  isForRuns: true,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        { ...reference, placeholder: "A", brief: "The workflow before: a name, or a path to its file" },
        { ...reference, placeholder: "B", brief: "The workflow after the change" },
      ],
    },
    flags: { json },
  },
  docs: {
    brief: "Say what a change of a workflow adds or drops: promises, states, work, ways, rules, settings",
    fullDescription: `What prompts and messages say is not compared. Of each promise that B does not state any more, it says whether it still holds there, or why it cannot be stated there: what it names is missing; of each that both state, whether B breaks it.

Example:
  signalbox workflow diff default my-flow

--json: { before, after, same, promises: { added, dropped }, states: { added, dropped }, ways: { added, dropped },
  rules: { added, dropped }, work: { added, dropped }, settings: { added, dropped },
  unstated: [{ promise, result: proved|broken|unproved|unstatable, why }], broken: [promise] }
Exit codes: 0 the same, 1 they differ, or a file has errors, 2 wrong usage, 3 no such workflow`,
  },
  func(flags, a, b) {
    const [before, after] = [findWorkflow(this, a), findWorkflow(this, b)];
    const [old, now] = [loadSound(before), loadSound(after)];
    const found = compareWorkflows(old, now);
    const dropped = droppedPromises(old, now);
    const statable = dropped.filter(({ why }) => why === "").map(({ promise }) => promise);
    const all = [...now.promises, ...statable];
    const results = all.length === 0 ? [] : verify({ ...now, promises: all }).promises;
    const proofs = new Map(results.slice(now.promises.length).map(({ promise, result }) => [promise, result]));
    const unstated = dropped.map(({ promise: { written }, why }) => ({
      ...{ promise: written, result: proofs.get(written) ?? ("unstatable" as const), why },
    }));
    const isOld = (promise: string) => old.promises.some(({ written }) => written === promise);
    const broken = results
      .slice(0, now.promises.length)
      .flatMap(({ promise, result }) => (result === "broken" && isOld(promise) ? [promise] : []));
    const same = Object.values(found).every(({ added, dropped: gone }) => added.length + gone.length === 0);
    if (!same) this.process.exitCode = exitCodes.failed;
    if (flags.json)
      return this.print(writeJson({ before: before.name, after: after.name, same, ...found, unstated, broken }));
    this.print(same ? "They differ in nothing but texts." : writeDifference(this, found, unstated));
    if (broken.length > 0)
      this.print(
        [
          this.paint.red(`Broken in ${after.name}, which states them too:`),
          ...broken.map((promise) => `  ${promise}`),
          `To see how: signalbox workflow verify ${shellWord(after.shown)}`,
        ].join("\n"),
      );
  },
});

interface Unstated {
  readonly promise: string;
  readonly result: Verification["promises"][number]["result"] | "unstatable";
  /** Why it cannot be stated; empty if it can. */
  readonly why: string;
}

function writeDifference(
  { paint }: Pick<Context, "paint">,
  found: WorkflowDifference,
  unstated: readonly Unstated[],
): string {
  const held = new Map(
    unstated.map(({ promise, result, why }) => [
      promise,
      result === "unstatable" ? `(it cannot be stated there: ${why})` : standing[result],
    ]),
  );
  const sections = Object.entries<Difference>({ ...found }).filter(
    ([, { added, dropped }]) => added.length + dropped.length > 0,
  );
  return sections
    .map(([what, { added, dropped }]) =>
      [
        paint.bold(what),
        ...dropped.map((line) => `${paint.red(`- ${line}`)}${held.has(line) ? `   ${held.get(line)}` : ""}`),
        ...added.map((line) => paint.green(`+ ${line}`)),
      ].join("\n"),
    )
    .join("\n\n");
}

/** What a promise that is no longer stated is worth. */
const standing = {
  proved: "(it still holds)",
  broken: "(it no longer holds)",
  unproved: "(not proved to hold)",
} as const;
