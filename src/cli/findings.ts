import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { AgentOrder, Effect } from "../engine/decision.ts";
import { type Route, routeText } from "../engine/draw/route.ts";
import { type Step, writeStep } from "../engine/explore/step.ts";
import { type Loaded, loadWorkflow } from "../engine/language/load.ts";
import { formatProblem, type Problem } from "../engine/language/problem.ts";
import { buildPrompt, fillText } from "../engine/prompt.ts";
import type { TracedStep } from "../engine/simulate/live.ts";
import { type Followed, follow } from "../engine/simulate/simulate.ts";
import type { Task } from "../engine/task.ts";
import type { Example, Finding } from "../engine/verify/finding.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import { childNames, type Found, findChild, findWorkflow, type Lookup } from "../home/workflows.ts";
import { isJsonObject } from "../json.ts";
import { shellWord } from "../shell-quote.ts";
import type { Context } from "./context.ts";
import { exitCodes, type Paint } from "./fast/tell.ts";
import { count, cut, wrap, writeJson } from "./text.ts";

/** An example as saved in a file: with the path of its workflow, so that it can be followed from any folder. */
interface SavedExample extends Example {
  readonly file: string;
}

export function saveExample(path: string, example: Example, file: string): void {
  const saved: SavedExample = { file, ...example };
  try {
    writeFileSync(path, `${JSON.stringify(saved, null, 2)}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `${path} cannot be written (${code}).`, {
      hint: "Name a writable folder.",
      cause: error,
    });
  }
}

function readExample(path: string): SavedExample {
  let text: string;
  try {
    text = readFileSync(resolve(path), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new Fault("unreadable", `${path} cannot be read (${code}).`, { cause: error });
    throw new Fault("not-found", `There is no file ${path}.`, {
      hint: "To write one: signalbox workflow verify NAME --save DIR",
      cause: error,
    });
  }
  const example = parse(text);
  if (isExample(example)) return example;
  throw new Fault("invalid-example", `${path} is not a counterexample that verify saved.`, {
    hint: "To write one: signalbox workflow verify NAME --save DIR",
  });
}

/** The steps of an example as the engine took them, and their route. */
export function routeOf(workflow: Workflow, example: Example): { route: Route; followed: Followed } {
  const followed = follow(workflow, example);
  const steps = followed.steps.map(({ step, from, to }) => ({ from, to, text: writeStep(step) }));
  return {
    followed,
    route: { created: example.created, steps, circle: followed.problem === undefined ? example.circle : 0 },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const kinds: Readonly<Record<Step["what"], true>> = {
  move: true,
  continue: true,
  reply: true,
  respawn: true,
  ended: true,
  idle: true,
  settled: true,
  did: true,
  children: true,
  limit: true,
  "task-limit": true,
  unsettled: true,
  ticket: true,
  complete: true,
};

function isExample(value: unknown): value is SavedExample {
  if (!isJsonObject(value) || !isJsonObject(value.ends) || !isJsonObject(value.settings) || !Array.isArray(value.steps))
    return false;
  const texts = [value.file, value.workflow, value.hash, value.code, value.preset, value.created, value.ends.status];
  return (
    texts.every((each) => typeof each === "string") &&
    Number.isSafeInteger(value.circle) &&
    Number(value.circle) >= 0 &&
    typeof value.ends.held === "boolean" &&
    (value.promise === undefined || typeof value.promise === "string") &&
    value.steps.every(isStep)
  );
}

function isStep(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value.by !== "string" || typeof value.what !== "string") return false;
  const { sections = {} } = value;
  return (
    Object.hasOwn(kinds, value.what) &&
    isJsonObject(sections) &&
    Object.values(sections).every((each) => typeof each === "string")
  );
}

/** Follows a counterexample with the engine and checks that it ends where verify said; repeats a cycle once. */
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
    (again === undefined || isBack ? undefined : "Repeating the cycle leads elsewhere.");
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
        breaks: followed.breaks,
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
            "The cycle once more",
            ...writeTrace(again.steps.slice(followed.steps.length), trace, followed.steps.length + 1),
          ]),
      problem === undefined
        ? `${paint.green("As verify said:")} the task is in ${paint.cyan(status)}${wasHeld}${again === undefined ? "" : ", where it was before the cycle"}.`
        : `${paint.red("Not as verify said:")} ${problem}`,
      ...(followed.breaks === undefined
        ? []
        : [
            `The last step breaks the promise ${followed.breaks}`,
            "A daemon would not make it: it would hold the task.",
          ]),
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

/** Compares positions. Counters may differ beyond the bounds that guards compare them with. */
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

/** A finding with its fix and its shortest example. */
export function writeFinding(workflow: Workflow, finding: Finding, { columns, paint }: Context): readonly string[] {
  const colour = { error: paint.red, warning: paint.yellow, note: paint.dim }[finding.level];
  const title = `${finding.level} ${finding.code}`;
  const head = wrap(`${title}: ${finding.message}`, columns, "  ").replace(title, () => colour(title));
  const fix = finding.fix === "" ? [] : [`  ${paint.bold("fix")}    ${wrap(finding.fix, columns - 9, " ".repeat(9))}`];
  return [
    head,
    ...fix,
    ...(finding.example === undefined ? [] : writeExample(workflow, finding.example, columns, paint)),
  ];
}

function writeExample(
  workflow: Workflow,
  example: NonNullable<Finding["example"]>,
  columns: number,
  paint: Context["paint"],
): readonly string[] {
  const { route, followed } = routeOf(workflow, example);
  const [way = "", circle] = routeText(route).map((line) => wrap(line, columns - 9, " ".repeat(9)));
  const settings = Object.entries(example.settings).map(([name, value]) => `${name}: ${String(value)}`);
  const variant = [...(example.preset === "" ? [] : [`preset ${example.preset}`]), ...settings];
  const width = String(route.steps.length).length;
  const indent = " ".repeat(width + 11);
  return [
    ...(variant.length === 0
      ? []
      : [`  ${paint.bold("with")}   ${wrap(variant.join(", "), columns - 9, " ".repeat(9))}`]),
    `  ${paint.bold("route")}  ${way}`,
    ...(circle === undefined ? [] : [`         ${circle}`]),
    ...(route.steps.length === 0 ? [] : [`  ${paint.bold("steps")}`]),
    ...route.steps.map(({ from, to, text }, i) => {
      const isAround = i >= route.steps.length - route.circle;
      const number = `${isAround ? "↻" : " "} ${String(i + 1).padStart(width)}.`;
      const isHeld = followed.steps[i]?.held !== "";
      const moved = from === to ? (isHeld ? " (held for a person)" : "") : ` (${from} → ${to})`;
      return `       ${number} ${wrap(`${text}${moved}`, columns - indent.length, indent)}`;
    }),
  ];
}

interface TraceOptions {
  readonly workflow: Workflow;
  readonly columns: number;
  readonly paint: Paint;
  /** Print whole prompts, not only their first line. */
  readonly wholePrompts: boolean;
}

/** A life step by step: the request, the decision and the effects. */
export function writeTrace(steps: readonly TracedStep[], options: TraceOptions, first = 1): readonly string[] {
  const { paint, columns } = options;
  const width = String(first + steps.length - 1).length;
  const indent = " ".repeat(width + 2);
  return steps.flatMap((each, i) => {
    const number = `${String(first + i).padStart(width)}.`;
    const decided =
      each.cause === "" ? [] : [`${paint.cyan(`${each.from} → ${each.to}`)} ${paint.dim(`(${each.cause})`)}`];
    const held = each.held === "" ? [] : [`${paint.yellow("held for a person:")} ${each.held}`];
    return [
      `${number} ${wrap(writeStep(each.step), columns - indent.length, indent)}`,
      ...[...decided, ...held].map((line) => `${indent}  ${line}`),
      ...each.effects.flatMap((effect) => writeEffect(effect, each.task, options)).map((line) => `${indent}  ${line}`),
    ];
  });
}

/** The same, for programs. */
export function traceDocument(steps: readonly TracedStep[]) {
  return steps.map(({ step, from, to, cause, held, effects }) => ({
    text: writeStep(step),
    from,
    to,
    cause,
    held,
    step,
    effects,
  }));
}

function writeEffect(effect: Effect, task: Task, { workflow, columns, wholePrompts }: TraceOptions): readonly string[] {
  const { action, params, agent, delay } = effect;
  const about = [
    ...Object.entries(params).map(([key, value]) => `${key}: ${String(value)}`),
    ...(agent ? orderText(agent) : []),
  ];
  const head = `· ${action}${about.length > 0 ? ` (${about.join(", ")})` : ""}${delay === undefined ? "" : ` in ${delay} s`}`;
  const told =
    agent === undefined
      ? []
      : [...promptLines(workflow, task, agent.prompt, wholePrompts), ...messageLines(workflow, task, agent.message)];
  return [
    ...wrap(head, columns - 8, "    ").split("\n"),
    ...told.map((line) => `    ${wholePrompts ? line : cut(line, columns - 12)}`),
  ];
}

function orderText(order: AgentOrder): readonly string[] {
  return [
    order.run,
    order.spec.mode,
    ...(order.model === "" ? [] : [`model ${order.model}`]),
    ...(order.resume === "" ? [] : [`resumes ${order.resume}`]),
  ];
}

/** Sample values for what only a real task has. */
const outside = { cli: "signalbox", task_file: "TASK.md", base: "main", default_branch: "main", ticket: "t-1" };

function promptLines(workflow: Workflow, task: Task, key: string, whole: boolean): readonly string[] {
  const built = key === "" ? undefined : buildPrompt(workflow, task, key, outside);
  if (built === undefined || !built.ok) return [];
  const [first = "", ...rest] = built.text.trimEnd().split("\n");
  return whole
    ? [`prompt ${key}:`, ...[first, ...rest].map((line) => `| ${line}`.trimEnd())]
    : [`prompt ${key}: ${first}`];
}

function messageLines(workflow: Workflow, task: Task, message: string): readonly string[] {
  const filled = fillText(workflow, task, message, outside);
  return !filled.ok || filled.text === "" ? [] : [`message: ${filled.text.replace(/\s+/g, " ")}`];
}

const maxShown = 5;

/** Loads a workflow. With a `lookup`, the workflows of its children must exist too. */
export function loadFound(found: Found, lookup?: Lookup): Loaded {
  return loadWorkflow(readText(found), found.shown, lookup && childNames(lookup, found));
}

/** Finds the workflows of children, for checks of the workflow that names them. */
export function childrenOf(found: Found, lookup: Lookup) {
  return {
    name: found.name,
    workflowNamed: (name: string): Workflow | undefined => {
      const child = findChild(lookup, found, name);
      return child && loadFound(child).workflow;
    },
  };
}

/** The workflow, or a Fault with the errors in its file. */
export function loadSound(found: Found): Workflow {
  const { workflow, problems } = loadFound(found);
  if (workflow !== undefined) return workflow;
  const errors = problems.filter(({ level }) => level === "error");
  const shown = errors.slice(0, maxShown).map((problem) => `  ${formatProblem(problem)}`);
  const more = errors.length > maxShown ? [`  and ${errors.length - maxShown} more`] : [];
  throw new Fault(
    "invalid-workflow",
    [`"${found.name}" has ${count(errors.length, "error")}:`, ...shown, ...more].join("\n"),
    {
      hint: `Fix the file, then: signalbox workflow validate ${referenceTo(found)}`,
    },
  );
}

/** How to name this workflow on the command line. */
export function referenceTo({ name, from, shown }: Found): string {
  return from === "file" ? shellWord(shown) : name;
}

// The loader's own limit is far lower; this one only keeps a mistyped path from filling the memory.
const maxBytes = 64 * 1024 * 1024;

/** The text of a workflow's file, or a Fault that says why it cannot be read. */
export function readText({ file, shown }: Pick<Found, "file" | "shown">): string {
  try {
    if (statSync(file).size > maxBytes) throw new Fault("too-large", `${shown} is far too large for a workflow.`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Fault) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new Fault("not-found", `There is no file ${shown}.`, { cause: error });
    if (code === "EISDIR") {
      throw new Fault("unreadable", `${shown} is a folder.`, { hint: "Name a file in it.", cause: error });
    }
    throw new Fault("unreadable", `${shown} cannot be read (${code}).`, {
      hint: "Check the file's permissions.",
      cause: error,
    });
  }
}

/** In the form that editors parse: one line, the position first. */
export function writeProblem({ paint }: Pick<Context, "paint">, problem: Problem): string {
  const colour = problem.level === "error" ? paint.red : paint.yellow;
  return formatProblem(problem).replace(` ${problem.level}: `, () => ` ${colour(`${problem.level}:`)} `);
}
