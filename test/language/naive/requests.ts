import type { AnswerSchema } from "../../../src/answers/read-answer.ts";
import { actions } from "../../../src/engine/actions.ts";
import type { Request, RunEnd } from "../../../src/engine/request.ts";
import { specOf } from "../../../src/engine/run-spec.ts";
import { settingOf } from "../../../src/engine/when.ts";
import type { Gate, Guard, Workflow } from "../../../src/engine/workflow.ts";
import type { Place } from "./explorer.ts";

/** Everything that the daemon could ask of the engine about this task. What makes no sense is refused by the engine itself. */
export function requestsFor(workflow: Workflow, place: Place): readonly Request[] {
  const { task } = place;
  const { entry } = task;
  const human = { role: "human" };
  const state = workflow.states[task.status];
  if (state === undefined || task.phase === "over") return [];
  const actors = [
    human,
    ...Object.entries(task.runs).map(([name, { key }]) => ({ role: name.split("/")[0] ?? name, run: key })),
  ];
  const requests: Request[] = [];
  for (const to of Object.keys(workflow.states)) for (const actor of actors) requests.push({ kind: "move", to, actor });
  requests.push({ kind: "continue", actor: human });
  if (state.wait.kind === "slot" || state.wait.kind === "time" || task.held !== undefined)
    requests.push({ kind: "continue", actor: { role: "engine" } });
  for (const text of ["yes", "Do it in another way."]) requests.push({ kind: "reply", actor: human, text });
  requests.push({ kind: "respawn", actor: human });
  if (task.phase === "entering") requests.push({ kind: "settled", entry });
  if (place.owes && task.held === undefined)
    requests.push({ kind: "unsettled", entry, action: "acquire_workspace", reason: "full" });
  requests.push({ kind: "ticket", reason: "closed" });
  requests.push({ kind: "limit", word: "cost" }, { kind: "limit", word: "time" });
  for (const word of ["time", "cost"] as const)
    if (state.limits[word] !== undefined) requests.push({ kind: "limit", word, entry });
  if (task.phase === "doing" && task.held === undefined)
    for (const word of workEnds(state.do.map(({ name }) => name))) requests.push({ kind: "did", entry, word });
  if (state.wait.kind === "fan_out" && task.phase === "waiting" && task.held === undefined) {
    requests.push({ kind: "children", entry, word: "ok" });
    const { policy } = state.wait;
    if ((typeof policy === "string" ? policy : settingOf(workflow, task, policy.setting)) === "stop")
      requests.push({ kind: "children", entry, word: "error" });
  }
  for (const name of Object.keys(task.runs)) requests.push(...endsOf(workflow, place, name));
  return requests;
}

function endsOf(workflow: Workflow, { task }: Place, name: string): readonly Request[] {
  const run = task.runs[name];
  const state = workflow.states[task.status];
  if (run === undefined || state === undefined) return [];
  const spec = specOf(workflow, state, name);
  const limits = [spec.limits, state.limits];
  const end = (word: RunEnd, more: object = {}): Request => ({ kind: "ended", run: run.key, word, ...more });
  const bounded = (["time", "cost"] as const).filter(
    (word) => spec.limits[word] !== undefined && state.limits[word] === undefined,
  );
  const common = [end("lost"), ...bounded.map((word) => end(word))];
  if (run.mode === "session") {
    const stalls = limits.some(({ stall }) => stall !== undefined) ? [end("stall")] : [];
    return [
      end("exit"),
      { kind: "idle", run: run.key },
      ...stalls,
      ...common,
      ...completions(name, run.key, spec.tools),
    ];
  }
  const schema = spec.result === undefined ? undefined : workflow.schemas[spec.result];
  const oks =
    schema === undefined
      ? [end("ok")]
      : [...answers(workflow, schema), { no: "answer" }].map((answer) => end("ok", { answer }));
  const step = run.mode === "steps" ? [end("step")] : [];
  return [...oks, end("error"), end("error", { isFinal: true }), end("stall"), end("login"), ...step, ...common];
}

function completions(role: string, run: string, tools: readonly string[] | undefined): readonly Request[] {
  if (!tools?.includes("work_complete")) return [];
  const actor = { role, run };
  return [{ kind: "complete", actor, summary: "s", outcome: "done", reason: "", documents: [] }];
}

function workEnds(names: readonly string[]): readonly string[] {
  return ["ok", "error", ...new Set(names.flatMap((name) => Object.keys(actions[name]?.words ?? {})))];
}

/** Answers with every combination of values of the fields that some rule compares. */
function answers(workflow: Workflow, schema: AnswerSchema): readonly object[] {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const wanted = Object.values(workflow.states).flatMap(({ rules, wait }) => [
    ...rules.map(({ result }) => result ?? {}),
    ...(wait.kind === "agent" ? [wait.run.until ?? {}] : []),
  ]);
  let rows: Record<string, unknown>[] = [{}];
  for (const [field, property] of Object.entries(schema.properties ?? {})) {
    const constants = wanted.flatMap((fields) => (field in fields ? [fields[field]] : []));
    const values = [...valuesOf(property, constants), ...(schema.required?.includes(field) ? [] : [undefined])];
    rows = rows.flatMap((row) => values.map((value) => (value === undefined ? row : { ...row, [field]: value })));
  }
  known.set(schema, rows);
  return rows;
}

const known = new WeakMap<AnswerSchema, readonly object[]>();

function valuesOf(property: AnswerSchema, constants: readonly unknown[]): readonly unknown[] {
  if (property.enum !== undefined) return property.enum;
  switch (property.type) {
    case "boolean":
      return [true, false];
    case "integer":
    case "number": {
      const numbers = constants.filter((each) => typeof each === "number");
      return [...new Set([0, 1, 9, ...numbers.flatMap((each) => [each - 1, each, each + 1])])];
    }
    case "array":
      return [[], [{ id: "1", title: "One", description: "A part" }]];
    default:
      return [...new Set([...constants.filter((each) => typeof each === "string"), "something else"])];
  }
}

export function guardsOf(workflow: Workflow): readonly Guard[] {
  const states = Object.values(workflow.states);
  return [
    ...workflow.ways.flatMap(({ when }) => when),
    ...states.flatMap(({ unless, evidence, rules }) => [...unless, ...evidence, ...rules.flatMap(({ when }) => when)]),
  ];
}

/** The texts that a section may have: one for each gate that asks for it, and one that satisfies none. */
export function sectionTexts({ ways, states }: Workflow, heading: string): readonly string[] {
  const gates = [
    ...ways.flatMap((way) => way.gates),
    ...Object.values(states).flatMap(({ rules }) =>
      rules.flatMap(({ artifact }) => (artifact === undefined || artifact === "none" ? [] : [artifact])),
    ),
  ].filter(({ section }) => section === heading);
  return [...new Set([...gates.map(satisfying), "nothing of use"])];
}

function satisfying({ verdict, fields }: Gate): string {
  return [
    ...(verdict === undefined ? [] : [`Verdict: ${verdict}`]),
    ...fields.map((field) => `${field}: x`),
    "text",
  ].join("\n");
}
