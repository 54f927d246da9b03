import { existsSync } from "node:fs";
import { follow } from "../engine/simulate/follow.ts";
import type { Task } from "../engine/task.ts";
import { Fault } from "../fault.ts";
import { type Found, findWorkflow } from "../home/workflows.ts";
import type { Context } from "./context.ts";
import { count } from "./count.ts";
import { readExample, routeOf, type SavedExample } from "./counterexample.ts";
import { exitCodes } from "./exit-code.ts";
import { loadSound } from "./load-found.ts";
import { shellWord } from "./shell-word.ts";
import { writeJson } from "./write-json.ts";
import { traceDocument, writeTrace } from "./write-trace.ts";

/** Walks a counterexample with the real engine and says whether it ends where verify said; a circle is walked once more. */
export function followSaved(
  context: Context,
  path: string,
  reference: string | undefined,
  flags: { prompts: boolean; json: boolean },
) {
  const example = readExample(path);
  const found = workflowOf(context, example, reference, path);
  const workflow = loadSound(found);
  if (workflow.hash !== example.hash) {
    context.say(`${found.shown} has changed since the counterexample was saved.`);
  }
  const { followed, route } = routeOf(workflow, example);
  const around = example.steps.slice(example.steps.length - route.circle);
  const again = route.circle === 0 ? undefined : follow(workflow, { ...example, steps: [...example.steps, ...around] });
  const isBack = again?.problem === undefined && samePlace(again?.last.task, followed.last.task);
  const problem =
    followed.problem ??
    again?.problem ??
    (again === undefined || isBack ? undefined : "Once more round the circle leads elsewhere.");
  if (problem !== undefined) context.process.exitCode = exitCodes.failed;

  const { status, held } = followed.last?.task ?? { status: "", held: undefined };
  if (flags.json) {
    const ends = { status, held: held !== undefined };
    const steps = traceDocument((again ?? followed).steps);
    return context.print(
      writeJson({
        workflow: found.name,
        code: example.code,
        steps,
        circle: route.circle,
        asSaid: problem === undefined,
        problem,
        ends,
      }),
    );
  }
  const { paint, columns } = context;
  const trace = { workflow, columns, paint, wholePrompts: flags.prompts };
  const wasHeld = held === undefined ? "" : ", held for a person";
  context.print(
    [
      paint.bold(`${found.name}: following ${example.code}, ${count(example.steps.length, "step")}`),
      `The task is created in ${paint.cyan(example.created)}`,
      ...writeTrace(followed.steps, trace),
      ...(again === undefined
        ? []
        : [
            "Once more round the circle",
            ...writeTrace(again.steps.slice(followed.steps.length), trace, followed.steps.length + 1),
          ]),
      problem === undefined
        ? `${paint.green("As verify said:")} the task is in ${paint.cyan(status)}${wasHeld}${again === undefined ? "" : ", where it was before the circle"}.`
        : `${paint.red("Not as verify said:")} ${problem}`,
    ].join("\n"),
  );
}

function workflowOf(context: Context, example: SavedExample, reference: string | undefined, path: string): Found {
  if (reference !== undefined) return findWorkflow(context, reference);
  if (existsSync(example.file))
    return findWorkflow(context, example.file.includes("/") ? example.file : `./${example.file}`);
  throw new Fault("not-found", `The workflow of this counterexample is gone: ${example.file}`, {
    hint: `Name one: signalbox workflow simulate NAME --follow ${shellWord(path)}`,
  });
}

/** Counters may have grown beyond every bound they are compared with; everything else must be as it was. */
function samePlace(a: Task | undefined, b: Task): boolean {
  const roles = (task: Task) => Object.keys(task.runs).sort().join();
  return (
    a !== undefined &&
    a.status === b.status &&
    a.phase === b.phase &&
    (a.held === undefined) === (b.held === undefined) &&
    roles(a) === roles(b)
  );
}
