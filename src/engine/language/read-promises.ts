import { parse } from "yaml";
import { fieldValues } from "../../answers/read-answer.ts";
import { ownsSection } from "../gate.ts";
import {
  after as afterPromise,
  answered,
  gatePassed,
  merged,
  neverBy,
  neverSameRunAs,
  testsPassed,
  within as withinVisits,
} from "../promise-forms.ts";
import { answersOf, runsOf } from "../proofs.ts";
import type { AuthorsPromise, Gate, PromisedEvidence, RunSpec, State, Workflow } from "../workflow.ts";
import { type Context, didYouMean, known, type Path, suggest } from "./problem.ts";
import { asList, type PromiseSource } from "./source.ts";

/** The workflow as far as it is compiled when its promises are read. */
type Compiled = Pick<Workflow, "states" | "ways" | "owners" | "schemas" | "roles">;

const forms = [
  ["to", "after"],
  ["to", "never_by"],
  ["role", "never_same_run_as"],
  ["within", "of"],
] as const;

const formsFix =
  "Write { to: S, after: … }, { to: S, never_by: … }, { role: R, never_same_run_as: R } or { within: N, of: S }.";

/** Reads the promises of a file. A promise that can never be tested, or that contradicts another, is an error. */
export function readPromises(context: Context, workflow: Compiled): readonly AuthorsPromise[] {
  const read = (context.source.promises ?? []).flatMap((source, i) => {
    const promise = readPromise(context, workflow, source, ["promises", i]);
    return promise === undefined ? [] : [{ promise, path: ["promises", i] as Path }];
  });
  for (const [i, { promise, path }] of read.entries()) {
    const other = read.slice(0, i).find((each) => contradict(each.promise, promise))?.promise;
    if (other === undefined) continue;
    const message = `This promise contradicts ${other.written}.`;
    context.error(path, message, "Remove one of the two.");
  }
  return read.map(({ promise }) => promise);
}

/** Why a promise of another file cannot be stated in this workflow; undefined where it can. */
export function whyNotStatable(workflow: Workflow, { written }: AuthorsPromise): string | undefined {
  const reasons: string[] = [];
  const source = { states: workflow.states } as unknown as Context["source"];
  const context: Context = {
    ...{ source, states: Object.keys(workflow.states), roles: Object.keys(workflow.roles) },
    ...{ prompts: [], schemas: [], workflows: undefined, counters: [], settings: {}, warn: () => {} },
    error: (_, message) => void reasons.push(message),
  };
  readPromise(context, workflow, parse(written) as PromiseSource, []);
  return reasons[0];
}

function readPromise(
  context: Context,
  workflow: Compiled,
  source: PromiseSource,
  path: Path,
): AuthorsPromise | undefined {
  const keys = Object.keys(source);
  const form = forms.find((each) => each.length === keys.length && each.every((key) => keys.includes(key)));
  if (form === undefined) {
    const found = keys.length === 0 ? "nothing" : keys.join(", ");
    context.error(path, `A promise has one of four forms, but this one has ${found}.`, formsFix);
    return undefined;
  }
  const { to = "", after, never_by: never, role = "", never_same_run_as: other = "", within = 0, of = "" } = source;
  if (after !== undefined) {
    if (!checkState(context, workflow, to, [...path, "to"])) return undefined;
    const evidence = readEvidence(context, workflow, after, [...path, "after"]);
    return evidence && afterPromise(to, evidence);
  }
  if (never !== undefined) {
    const roles = asList<string>(never);
    const isKnown = checkRoles(context, workflow, roles, [...path, "never_by"], ["human", "engine"]);
    if (!checkState(context, workflow, to, [...path, "to"]) || !isKnown) return undefined;
    checkSomebodyMay(context, workflow, to, roles, [...path, "never_by"]);
    return neverBy(to, roles);
  }
  if (form[0] === "within") {
    if (!checkState(context, workflow, of, [...path, "of"])) return undefined;
    return withinVisits(within, of);
  }
  const areKnown = [
    checkRoles(context, workflow, [role], [...path, "role"]),
    checkRoles(context, workflow, [other], [...path, "never_same_run_as"]),
  ];
  if (areKnown.includes(false)) return undefined;
  if (role === other) {
    context.error([...path, "never_same_run_as"], `"${role}" cannot be another role than itself.`, "Name two roles.");
    return undefined;
  }
  checkJudges(context, workflow, role, [...path, "role"]);
  return neverSameRunAs(role, other);
}

/** Whether a task can move to the state: otherwise a promise about it can never be tested. */
function checkState(context: Context, { ways }: Compiled, name: string, path: Path): boolean {
  if (!Object.hasOwn(context.source.states, name)) {
    context.error(path, `There is no state "${name}".`, suggest(name, context.states));
    return false;
  }
  if (ways.some(({ to }) => to === name)) return true;
  context.error(
    path,
    `No way leads to "${name}", so this promise can never be tested.`,
    "Add a way, or remove the promise.",
  );
  return false;
}

function checkRoles(
  context: Context,
  workflow: Compiled,
  names: readonly string[],
  path: Path,
  also: readonly string[] = [],
): boolean {
  const asking = workflow.ways.flatMap(({ by }) => by ?? []).filter((role) => role !== "human" && role !== "engine");
  const all = [...new Set([...(context.roles ?? []), ...runsOf(workflow).map(({ role }) => role), ...asking])];
  const unknown = names.filter((name) => !all.includes(name) && !also.includes(name));
  for (const name of unknown) {
    const message = `There is no role "${name}".`;
    context.error(path, message, () => didYouMean(name, [...also, ...all]));
  }
  return unknown.length === 0;
}

/** A state that nobody may move a task to could as well be removed. */
function checkSomebodyMay(
  context: Context,
  { states, ways }: Compiled,
  to: string,
  never: readonly string[],
  path: Path,
): void {
  const isOpen = ways.some((way) => {
    if (way.to !== to) return false;
    const byRule =
      way.implied === "escalation" ||
      states[way.from]?.rules.some(({ does }) => does.kind === "then" && does.to === to) === true ||
      way.by?.includes("engine") === true;
    // A rule that is taken when a person says `continue` is taken by that person.
    const kind = states[way.from]?.wait.kind ?? "open";
    const movers = ["engine", ...(["human", "slot", "time", "none"].includes(kind) ? ["human"] : [])];
    const isRuled = byRule && movers.some((mover) => !never.includes(mover));
    return isRuled || way.by === undefined || way.by.some((role) => role !== "engine" && !never.includes(role));
  });
  if (isOpen) return;
  const message = `With this promise nobody may move a task to "${to}", so its ways contradict it.`;
  context.error(path, message, "Name fewer roles, or add a way that another actor may ask for.");
}

function checkJudges(context: Context, workflow: Compiled, role: string, path: Path): void {
  const writes = workflow.ways.some(({ gates }) =>
    gates.some(({ section, verdict }) => verdict !== undefined && workflow.owners[section]?.includes(role)),
  );
  if (writes || answersOf(workflow as Workflow, role).size > 0) return;
  const message = `"${role}" gives neither a verdict nor an answer with a schema, so this promise can never be tested.`;
  context.error(path, message, "Give it a result, or name the role that judges.");
}

type EvidenceSource = NonNullable<PromiseSource["after"]>;

function readEvidence(
  context: Context,
  workflow: Compiled,
  source: EvidenceSource,
  path: Path,
): PromisedEvidence | undefined {
  const kinds = (["merged", "tests", "gate", "result"] as const).filter((key) => source[key] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    const found = kinds.length === 0 ? "nothing" : kinds.join(" and ");
    const fix = "Give one of merged, tests, gate, result; write a second promise for the other.";
    context.error(path, `A promise asks for one thing, but this one asks for ${found}.`, fix);
    return undefined;
  }
  const loose = (["verdict", "by"] as const).find(
    (key) => source[key] !== undefined && kind !== "gate" && (key === "verdict" || kind !== "result"),
  );
  if (loose !== undefined) {
    context.error([...path, loose], `"${loose}" does not go with "${kind}".`, `Remove ${loose}.`, { key: true });
    return undefined;
  }
  const by = source.by === undefined ? undefined : asList<string>(source.by);
  if (by !== undefined && !checkRoles(context, workflow, by, [...path, "by"], ["human"])) return undefined;
  if (kind === "merged") return readMerged(context, source, path);
  if (kind === "tests") return testsPassed;
  return kind === "gate"
    ? readGatePassed(context, workflow, source, by, path)
    : readAnswer(context, workflow, source, by, path);
}

function readMerged(context: Context, source: EvidenceSource, path: Path): PromisedEvidence | undefined {
  if (source.merged === true) return merged;
  context.error([...path, "merged"], "Only that the work is merged can be promised.", "Write merged: true.");
  return undefined;
}

function readGatePassed(
  context: Context,
  workflow: Compiled,
  { gate = "", verdict }: EvidenceSource,
  by: readonly string[] | undefined,
  path: Path,
): PromisedEvidence | undefined {
  const section = gate.slice(3).trim();
  const gates: readonly Gate[] = workflow.ways.flatMap((way) => way.gates);
  const sections = [...new Set(gates.map((each) => each.section))];
  if (!sections.includes(section)) {
    const fix = () =>
      didYouMean(
        `## ${section}`,
        sections.map((name) => `## ${name}`),
      );
    context.error([...path, "gate"], `No way has a gate for ## ${section}, so this promise can never be kept.`, fix);
    return undefined;
  }
  if (verdict !== undefined && !gates.some((each) => each.section === section && each.verdict === verdict)) {
    const message = `No gate for ## ${section} asks for ${verdict}, so this promise can never be kept.`;
    context.error([...path, "verdict"], message, `Add verdict: ${verdict} to a gate, or remove it here.`);
    return undefined;
  }
  const idle = by?.find((role) => role !== "human" && !ownsSection(workflow as Workflow, role, section));
  if (idle !== undefined) {
    const owners = workflow.owners[section] ?? [];
    const message = `"${idle}" may not write ## ${section}, so its word never counts here.`;
    context.error([...path, "by"], message, known(owners));
    return undefined;
  }
  return gatePassed(section, verdict, by);
}

function readAnswer(
  context: Context,
  workflow: Compiled,
  { result = {} }: EvidenceSource,
  by: readonly string[] | undefined,
  path: Path,
): PromisedEvidence | undefined {
  const fields = Object.entries(result);
  const at = [...path, "result"];
  if (fields.length === 0) {
    context.error(at, "An answer without a field says nothing.", "Name a field of the answer, with its value.");
    return undefined;
  }
  const runs = Object.values(workflow.states).flatMap(({ wait }) => awaited(wait));
  const schemas = runs.flatMap(({ result: name = "" }) => workflow.schemas[name] ?? []);
  const names = [...new Set(schemas.flatMap(({ properties = {} }) => Object.keys(properties)))];
  const unknown = fields.find(([field]) => !names.includes(field));
  if (unknown !== undefined) {
    const message = `No answer that a state waits for has a field "${unknown[0]}", so this promise can never be tested.`;
    context.error([...at, unknown[0]], message, suggest(unknown[0], names), { key: true });
    return undefined;
  }
  const fitting = schemas.filter((schema) =>
    fields.every(
      ([field, value]) => fieldValues(schema, field)?.includes(value) ?? Object.hasOwn(schema.properties ?? {}, field),
    ),
  );
  if (fitting.length === 0) {
    const message = `No answer that a state waits for can have ${JSON.stringify(result)}, so this promise can never be kept.`;
    context.error(at, message, "Name a value that the schema allows.", { key: true });
    return undefined;
  }
  return answered(result, by);
}

function awaited(wait: State["wait"]): readonly RunSpec[] {
  return wait.kind === "agent" ? [wait.run] : wait.kind === "panel" ? [wait.judge] : [];
}

/** Whether no task could keep both. */
function contradict(a: AuthorsPromise, b: AuthorsPromise): boolean {
  if (a.kind === "within" && b.kind === "within") return a.of === b.of && a.visits !== b.visits;
  if (a.kind !== "after" || b.kind !== "after" || a.to !== b.to) return false;
  const [one, two] = [a.evidence, b.evidence];
  if (!("by" in one) || !("by" in two) || one.by?.join() !== two.by?.join()) return false;
  if (one.kind === "gate" && two.kind === "gate")
    return (
      one.section === two.section &&
      one.verdict !== undefined &&
      two.verdict !== undefined &&
      one.verdict !== two.verdict
    );
  if (one.kind !== "result" || two.kind !== "result") return false;
  const { fields } = two;
  return Object.entries(one.fields).some(([field, value]) => Object.hasOwn(fields, field) && fields[field] !== value);
}
