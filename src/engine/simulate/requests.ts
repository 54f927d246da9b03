import { sampleAnswers } from "../../answers/read-answer.ts";
import { type AnswerSchema, propertyOf } from "../../answers/schema.ts";
import { actions } from "../actions.ts";
import type { Step } from "../explore/step.ts";
import type { World } from "../explore/world.ts";
import { handOverTools } from "../handed.ts";
import type { RunEnd } from "../request.ts";
import { specOf } from "../run-spec.ts";
import type { Task } from "../task.ts";
import { resolve } from "../when.ts";
import type { Mode, Scalar, State, Workflow } from "../workflow.ts";

/**
 * Everything that the daemon could ask of the engine about a task. Nothing is left out because the workflow does not provide for
 * it: the engine refuses what it does not accept. `verify` has a list of its own, so that the simulation can find its holes.
 */
export function possibleRequests(workflow: Workflow, { task, past }: World): readonly Step[] {
  const state = workflow.states[task.status];
  if (state === undefined || task.phase === "over") return [];
  const runs = Object.keys(task.runs);
  const engine = (what: Step["what"], word?: string): Step => ({ what, by: "engine", ...(word && { word }) });
  const human = (what: Step["what"], text?: string): Step => ({ what, by: "human", ...(text && { text }) });
  const isHeld = task.held !== undefined;
  return [
    ...(task.phase === "entering" ? [engine("settled")] : []),
    ...(past.owes && !isHeld ? [engine("unsettled")] : []),
    ...(task.phase === "doing" && !isHeld ? workEndings(state).map((word) => engine("did", word)) : []),
    ...(task.phase === "waiting" && !isHeld
      ? childrenEndings(workflow, task, state).map((word) => engine("children", word))
      : []),
    ...runs.flatMap((name) => runRequests(workflow, state, task.runs[name]?.mode ?? "session", name)),
    ...Object.keys(workflow.states).flatMap((to) => ["human", ...runs].map((by): Step => ({ what: "move", by, to }))),
    engine("continue"),
    human("continue"),
    human("reply", "yes"),
    human("reply", "the answer"),
    human("respawn"),
    engine("ticket"),
    ...(["time", "cost"] as const).flatMap((word) => [
      engine("task-limit", word),
      ...(state.limits[word] === undefined ? [] : [engine("limit", word)]),
    ]),
  ];
}

function workEndings({ do: work }: State): readonly string[] {
  return ["ok", "error", ...new Set(work.flatMap(({ name }) => Object.keys(actions[name]?.words ?? {})))];
}

/** Unless the policy is to stop at the first failure, children that failed do not end a fan-out. */
function childrenEndings(workflow: Workflow, task: Task, { wait }: State): readonly string[] {
  if (wait.kind !== "fan_out") return [];
  return resolve(wait.policy, workflow, task) === "stop" ? ["ok", "error"] : ["ok"];
}

/** The ways in which a run can end, and what it can report. Only limits and stalls that the file sets are observed. */
function runRequests(workflow: Workflow, state: State, mode: Mode, name: string): readonly Step[] {
  const { limits, tools, result } = specOf(workflow, state, name);
  const ended = (word: RunEnd): Step => ({ what: "ended", by: name, word });
  const limited = (["time", "cost"] as const).filter(
    (word) => limits[word] !== undefined && state.limits[word] === undefined,
  );
  const common = [ended("lost"), ...limited.map(ended)];
  if (mode === "session") {
    const canStall = limits.stall !== undefined || state.limits.stall !== undefined;
    const idle: Step = { what: "idle", by: name };
    return [
      ended("exit"),
      idle,
      { ...idle, untilLeft: true },
      ...(canStall ? [ended("stall")] : []),
      ...(tools?.includes(handOverTools.complete) ? [{ what: "complete", by: name } as const] : []),
      ...common,
    ];
  }
  const schema = result === undefined ? undefined : workflow.schemas[result];
  const answers = schema === undefined ? [{}] : answersOf(workflow, schema).map((answer) => ({ answer }));
  const step = ended("step");
  return [
    ...answers.map((answer): Step => ({ ...ended("ok"), ...answer })),
    ...(mode === "steps" ? [step, { ...step, untilLeft: true }] : []),
    ended("error"),
    { ...ended("error"), isFinal: true },
    ended("stall"),
    ended("login"),
    ...common,
  ];
}

// More combinations are not told apart: one field at a time differs from the plain answer.
const maxAnswers = 60;

/** Answers with the values around each that any rule of the file compares a field with, and one that fits no schema. */
function answersOf(workflow: Workflow, schema: AnswerSchema): readonly unknown[] {
  const before = answersBySchema.get(schema);
  if (before !== undefined) return before;
  const [plain] = sampleAnswers(schema, []);
  const compared = Object.values(workflow.states).flatMap(({ rules, wait }) => [
    ...rules.flatMap(({ result }) => (result === undefined ? [] : [result])),
    ...(wait.kind === "agent" && wait.run.until !== undefined ? [wait.run.until] : []),
  ]);
  const entries = Object.keys(schema.properties ?? {}).map((field) => {
    const constants = compared.flatMap((each) => (Object.hasOwn(each, field) ? [each[field] as Scalar] : []));
    const values = valuesOf(propertyOf(schema, field) ?? {}, constants).map((value) => [[field, value]] as const);
    return schema.required?.includes(field) ? values : [...values, []];
  });
  const count = entries.reduce((product, { length }) => product * length, 1);
  const rows =
    count <= maxAnswers
      ? entries.reduce<Entries[]>((all, each) => all.flatMap((row) => each.map((entry) => [...row, ...entry])), [[]])
      : entries.flat();
  const found = [plain, ...rows.map((row) => ({ ...(plain as object), ...Object.fromEntries(row) })), "no answer"];
  answersBySchema.set(schema, found);
  return found;
}

type Entries = readonly (readonly [string, unknown])[];

const answersBySchema = new WeakMap<AnswerSchema, readonly unknown[]>();

function valuesOf(property: AnswerSchema, constants: readonly Scalar[]): readonly unknown[] {
  if (property.const !== undefined) return [property.const];
  if (property.enum !== undefined) return property.enum;
  const near = constants.flatMap((each): readonly Scalar[] =>
    typeof each === "number" ? [each - 1, each, each + 1] : [each],
  );
  switch ([property.type].flat()[0]) {
    case "boolean":
      return [true, false];
    case "integer":
    case "number":
      return [...new Set([...near, 0, 9])];
    case "array":
      return [[], [{ id: "1", title: "One", description: "One part", needs: [] }]];
    case "string":
      return [...new Set([...near, "something else"])];
    default:
      return near;
  }
}
