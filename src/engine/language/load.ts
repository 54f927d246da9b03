import { type AnswerSchema, schemaProblems } from "../../answers/read-answer.ts";
import { sha256 } from "../../sha256.ts";
import { sectionOwners } from "../gate.ts";
import { judgesOf } from "../judging.ts";
import { modelsProblem } from "../model-tiers.ts";
import { defaultNames, plainRun } from "../run-spec.ts";
import type { Guard, Outcome, Rule, RunSpec, SettingValue, State, Wait, Way, Workflow } from "../workflow.ts";
import { checkRules } from "./check-rules.ts";
import { checkAmbiguity } from "./check-ways.ts";
import { type Context, createReporter, type Path, type Problem } from "./problem.ts";
import { countersOf, readGuards, readWork } from "./read-action.ts";
import { readPromises } from "./read-promises.ts";
import { checkRunSource, readLimits, readRun, readTaskLimits, reservedRoles } from "./read-run.ts";
import { checkVariables, readSettings } from "./read-settings.ts";
import { checkRespawnPrompt, readWait } from "./read-wait.ts";
import { checkTarget, escalationWays, impliedWays, type PlacedRule, readRules, readWays } from "./read-ways.ts";
import { workflowShape } from "./schema.ts";
import { readShape } from "./shape.ts";
import { type ActionSource, asList, type Source, type StateSource } from "./source.ts";
import { readTree } from "./tree.ts";

type Reporter = Pick<Context, "error" | "warn">;

/**
 * Turns a well-formed file into a workflow. It reports every problem; the result is valid only if there are no errors.
 */
function compile(
  source: Source,
  hash: string,
  fallbackName: string,
  reporter: Reporter,
  workflows?: readonly string[],
): Workflow {
  let isSound = true;
  const error: Context["error"] = (...problem) => {
    isSound = false;
    reporter.error(...problem);
  };
  const context = createContext(source, { ...reporter, error }, workflows);
  checkFile(context);
  const { settings, presets } = readSettings(context);
  const isSwitch = (field: string) =>
    typeof context.settings[field] === "boolean" || ["dirty", "merged", "protected", "workspace"].includes(field);
  checkRoles(context);

  const placedWays = readWays(context);
  const rules: Record<string, readonly PlacedRule[]> = Object.fromEntries(
    context.states.map((name) => [name, readRules(context, name)]),
  );
  const bare: Record<string, readonly Rule[]> = Object.fromEntries(
    Object.entries(rules).map(([name, placed]) => [name, placed.map(({ rule }) => rule)]),
  );
  const named = placedWays.map(({ way }) => way);
  const ordinary = [...named, ...impliedWays(bare, named)];
  const escalations = escalationWays(bare, named);

  const states: Record<string, State> = {};
  const outgoing = Map.groupBy(ordinary, (way) => way.from);
  for (const name of context.states)
    states[name] = readState(context, name, bare[name] ?? [], ordinary, outgoing.get(name) ?? []);
  checkModels(context, { states, ways: ordinary }, settings, presets);
  checkTexts(context);
  checkCreation(context);
  // Rules are checked together only if each is valid by itself; otherwise one mistake would be reported several times.
  if (isSound) {
    const hookRuns = ordinary.flatMap((way) => way.hooks.flatMap((hook) => hook.run ?? []));
    for (const state of Object.values(states))
      checkRules(context, state, rules[state.name] ?? [], hookRuns.length > 0 ? hookRuns : [plainRun("")], isSwitch);
    checkAmbiguity(context, placedWays, isSwitch);
  }

  const terminal = (name: string) => source.states[name]?.terminal === true;
  const open = context.states.filter((name) => !terminal(name));
  const initial = source.initial === undefined ? open : asList<string>(source.initial);
  const unclear = source.unclear ?? (open.includes(defaultNames.unclear) ? defaultNames.unclear : (initial[0] ?? ""));
  const owners = sectionOwners(states, ordinary);
  const roles = Object.fromEntries(
    (context.roles ?? []).map((role) => [role, readRun(quiet(context), { role }, ["roles", role])]),
  );
  const schemas = (source.schemas ?? {}) as Readonly<Record<string, AnswerSchema>>;
  const ways = [...ordinary, ...escalations];
  return {
    name: source.name ?? fallbackName,
    description: source.description ?? "",
    hash,
    initial,
    listsInitial: source.initial !== undefined,
    unclear,
    agents: source.agents ?? "anonymous",
    settings,
    presets,
    roles,
    limits: readTaskLimits(context, source.limits),
    states,
    ways,
    pollInterval: readPollInterval(context, source),
    prompts: source.prompts ?? {},
    schemas,
    counters: context.counters,
    sections: sectionsOf(ordinary, Object.values(bare).flat()),
    owners,
    judges: judgesOf(states, ordinary, owners),
    promises: isSound ? readPromises(context, { states, ways, owners, schemas, roles }) : [],
  };
}

/** Shorter intervals would keep a processor busy for nothing: events arrive without polling. */
const minPollInterval = 0.1;

function readPollInterval(context: Context, { exit_monitoring: monitoring }: Source): number | undefined {
  const seconds = monitoring?.poll_interval;
  if (seconds === undefined || seconds >= minPollInterval) return seconds;
  context.warn(
    ["exit_monitoring", "poll_interval"],
    `${seconds} s is too short for a poll interval, so ${minPollInterval} s is used instead.`,
    `Write poll_interval: ${minPollInterval}, or more.`,
  );
  return minPollInterval;
}

/** Settings that runs take their models from have a model for each member of a panel, and name states that there are. */
function checkModels(
  context: Context,
  placed: Pick<Workflow, "states" | "ways">,
  settings: Workflow["settings"],
  presets: Workflow["presets"],
): void {
  const check = (path: Path, name: string, value: SettingValue) => {
    const problem = modelsProblem(placed, name, value);
    if (problem !== undefined) context.error(path, problem, "");
  };
  for (const [name, setting] of Object.entries(settings)) check(["settings", name, "default"], name, setting.default);
  for (const [preset, values] of Object.entries(presets))
    for (const [name, value] of Object.entries(values)) check(["presets", preset, name], name, value);
}

function createContext(source: Source, reporter: Reporter, workflows: readonly string[] | undefined): Context {
  const roles = source.roles === undefined ? undefined : Object.keys(source.roles).filter((role) => role !== "any");
  const settings = Object.entries(source.settings ?? {}).map(([name, setting]) => [name, setting.default] as const);
  return {
    source,
    states: Object.keys(source.states),
    prompts: Object.keys(source.prompts ?? {}),
    schemas: Object.keys(source.schemas ?? {}),
    workflows,
    roles,
    counters: countersOf(actionsOf(source)),
    settings: Object.fromEntries(settings),
    error: reporter.error,
    warn: reporter.warn,
  };
}

function actionsOf(source: Source): readonly ActionSource[] {
  const hooks = (source.transitions ?? []).flatMap((transition) => transition.hooks ?? []);
  const work = Object.values(source.states).flatMap((state) => state?.do ?? []);
  return [...hooks, ...work];
}

function readState(
  context: Context,
  name: string,
  rules: readonly Rule[],
  ways: readonly Way[],
  outgoing: readonly Way[],
): State {
  const source = context.source.states[name] ?? {};
  const path = ["states", name];
  if (source.terminal) checkTerminal(context, name, source);
  else if (source.outcome !== undefined)
    context.error([...path, "outcome"], `"${name}" is not terminal, so it has no outcome.`, "Add terminal: true.", {
      key: true,
    });
  if (source.ask !== undefined && source.waits_for !== "human") {
    context.error([...path, "ask"], `"${name}" does not wait for a person.`, "Add waits_for: human.", { key: true });
  }
  checkRespawnPrompt(context, source, path);
  const wait = source.terminal ? { kind: "open" as const } : readWait(context, source, path);
  const out: Record<string, Way[]> = Object.create(null);
  for (const way of outgoing) out[way.to] = [...(out[way.to] ?? []), way];
  const run = wait.kind === "agent" || wait.kind === "human" ? wait.run : undefined;
  const unless = readGuards(context, source.unless, [...path, "unless"]);
  const evidence = readGuards(context, source.evidence, [...path, "evidence"]);
  checkEvidence(context, evidence, wait, [...path, "evidence"]);
  const guards = [
    ...unless,
    ...evidence,
    ...rules.flatMap((rule) => rule.when),
    ...outgoing.flatMap((way) => way.when),
  ];
  const isCounted = context.source.promises?.some(({ within, of }) => within !== undefined && of === name) === true;
  return {
    name,
    terminal: source.terminal ?? false,
    outcome: source.terminal ? outcomeOf(name, source) : undefined,
    wait,
    unless,
    evidence,
    countsVisits: isCounted || guards.some((guard) => guard.source === "visits"),
    do: (source.do ?? []).flatMap((action, i) => readWork(context, action, [...path, "do", i]) ?? []),
    rules,
    limits: readLimits(context, source.limits, [...path, "limits"]),
    respawn: respawnRun(context, name, source, run, ways),
    ask: source.ask,
    out,
  };
}

/** Only a run that ends its turn can be told what is missing; a session is reminded of what its gates need. */
function checkEvidence(context: Context, evidence: readonly Guard[], wait: Wait, path: Path): void {
  if (evidence.length === 0 || (wait.kind === "agent" && (wait.run.mode === "turn" || wait.run.mode === "steps")))
    return;
  context.error(
    path,
    "Evidence is what the agent of a state hands over in its turn, and this state has no such agent.",
    "Remove it, or give the state an agent in mode turn or steps.",
    { key: true },
  );
}

/**
 * The run that replaces a dead agent: the state's, else that of a hook with the same prompt, else of a hook on a way
 * in.
 */
function respawnRun(
  context: Context,
  name: string,
  source: StateSource,
  own: RunSpec | undefined,
  ways: readonly Way[],
): RunSpec | undefined {
  const prompt = source.respawn_prompt ?? own?.prompt;
  if (prompt === undefined) return undefined;
  const spawns = (among: readonly Way[]) => among.flatMap((way) => way.hooks.flatMap((hook) => hook.run ?? []));
  const run =
    own ??
    spawns(ways).find((each) => each.prompt === prompt) ??
    spawns(ways.filter((way) => way.to === name))[0] ??
    readRun(quiet(context), {}, ["states", name]);
  return { ...run, prompt };
}

function checkTerminal(context: Context, name: string, source: StateSource): void {
  const allowed = ["terminal", "outcome", "do"];
  for (const key of Object.keys(source)) {
    if (allowed.includes(key)) continue;
    context.error(
      ["states", name, key],
      `"${name}" is terminal and can only have ${allowed.join(", ")}.`,
      `Remove ${key}.`,
      { key: true },
    );
  }
}

function outcomeOf(name: string, source: StateSource): Outcome {
  return source.outcome ?? defaultNames.outcomes.find((outcome) => outcome === name) ?? "done";
}

function checkFile(context: Context): void {
  const { source } = context;
  if (context.states.includes("any")) {
    context.error(["states", "any"], '"any" stands for every state and cannot name one.', "Choose another name.", {
      key: true,
    });
  }
  if (source.version !== 1)
    context.error(
      ["version"],
      `This is version ${source.version} of the language; version 1 is known.`,
      "Write version: 1.",
    );
  if (context.states.length === 0)
    context.error(["states"], "There are no states.", "Add at least one state, and a terminal one.");
  else if (!context.states.some((name) => source.states[name]?.terminal)) {
    context.error(
      ["states"],
      "No state is terminal, so no task could ever end.",
      "Add terminal: true to the last state.",
      { key: true },
    );
  } else if (context.states.every((name) => source.states[name]?.terminal)) {
    context.error(["states"], "Every state is terminal, so no task could ever begin.", "Add a state to begin in.", {
      key: true,
    });
  }
  for (const [name, schema] of Object.entries(source.schemas ?? {})) {
    for (const problem of schemaProblems(schema))
      context.error(["schemas", name, ...problem.path], problem.message, "");
  }
  for (const [i, rule] of (source.exit_monitoring?.rules ?? []).entries()) {
    const path = ["exit_monitoring", "rules", i, "status"];
    checkTarget(context, rule.status, path);
    if (source.states[rule.status]?.terminal) {
      context.error(
        path,
        `"${rule.status}" is terminal, so nothing ends in it.`,
        "Remove the rule, or terminal: true.",
      );
    }
  }
}

function checkRoles(context: Context): void {
  for (const [name, source] of Object.entries(context.source.roles ?? {})) {
    const path = ["roles", name];
    if (name !== "any" && (reservedRoles as readonly string[]).includes(name)) {
      context.error(path, `"${name}" is reserved.`, "Choose another name for the role.", { key: true });
    }
    if (source.role !== undefined)
      context.error([...path, "role"], "A role has the name it is declared under.", "Remove the key.", { key: true });
    const mode = source.mode ?? context.source.roles?.any?.mode ?? "session";
    checkRunSource(context, source, name === "any" ? undefined : mode, path);
    readLimits(context, source.limits, [...path, "limits"]);
  }
}

function checkCreation(context: Context): void {
  const { source } = context;
  const check = (name: string, path: (string | number)[]) => {
    checkTarget(context, name, path);
    if (source.states[name]?.terminal)
      context.error(path, `"${name}" is terminal; a task cannot start there.`, "Name a state that is not terminal.");
  };
  for (const [i, name] of asList<string>(source.initial).entries())
    check(name, Array.isArray(source.initial) ? ["initial", i] : ["initial"]);
  if (source.unclear !== undefined) check(source.unclear, ["unclear"]);
}

/** Checks every text that an agent or a person will read, and every name with variables. */
function checkTexts(context: Context): void {
  const { source } = context;
  for (const [name, text] of Object.entries(source.prompts ?? {})) checkVariables(context, text, ["prompts", name]);
  const visit = (value: unknown, path: (string | number)[]) => {
    if (typeof value === "string") checkVariables(context, value, path);
    else if (Array.isArray(value)) value.forEach((item, i) => void visit(item, [...path, i]));
    else if (typeof value === "object" && value !== null)
      for (const [key, inner] of Object.entries(value)) visit(inner, [...path, key]);
  };
  for (const [i, transition] of (source.transitions ?? []).entries())
    visit(transition.hooks, ["transitions", i, "hooks"]);
  for (const [name, role] of Object.entries(source.roles ?? {})) visit([role.window, role.model], ["roles", name]);
  for (const [name, state] of Object.entries(source.states)) {
    visit(state.do, ["states", name, "do"]);
    const runs = [state.agent, state.panel?.members, state.panel?.judge];
    visit([...runs.flatMap((run) => [run?.window, run?.model]), state.ask], ["states", name]);
  }
}

function sectionsOf(ways: readonly Way[], rules: readonly Rule[]): readonly string[] {
  const sections = new Set(ways.flatMap((way) => way.gates.map((gate) => gate.section)));
  for (const { artifact } of rules) if (artifact !== undefined && artifact !== "none") sections.add(artifact.section);
  return [...sections];
}

/** A context that reports nothing, for reading something a second time. */
function quiet(context: Context): Context {
  return { ...context, error: () => undefined, warn: () => undefined };
}

export interface Loaded {
  /** Undefined where there is an error among the problems. */
  readonly workflow: Workflow | undefined;
  readonly problems: readonly Problem[];
}

/**
 * Loads a workflow from its text. Problems name `file`. `workflows` are the names that a fan-out may give to its
 * children; without them the name is not checked.
 */
export function loadWorkflow(text: string, file: string, workflows?: readonly string[]): Loaded {
  const { tree, problems } = readTree(text, file);
  if (tree === undefined) return { workflow: undefined, problems: inOrder(problems) };

  const reporter = createReporter(tree, text, file);
  const source = readShape(workflowShape, tree, [], (path, message, fix, atKey) =>
    reporter.error(path, message, fix, { key: atKey ?? false }),
  );
  if (reporter.problems.length > 0) return { workflow: undefined, problems: inOrder(reporter.problems) };

  const name = file.replace(/^.*\//, "").replace(/\.ya?ml$/, "");
  const workflow = compile(source as Source, sha256(text), name, reporter, workflows);
  const failed = reporter.problems.some((problem) => problem.level === "error");
  return { workflow: failed ? undefined : workflow, problems: inOrder(reporter.problems) };
}

function inOrder(problems: readonly Problem[]): readonly Problem[] {
  const seen = new Set<string>();
  return [...problems]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .filter((problem) => {
      const key = `${problem.line}:${problem.column}:${problem.message}`;
      return !seen.has(key) && seen.add(key);
    });
}
