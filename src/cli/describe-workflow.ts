import type { Effect } from "../engine/decision.ts";
import { effectsOfWays } from "../engine/draw/route.ts";
import { arrow, describeWait, gateText, splitWays, wayLabel } from "../engine/draw/workflow.ts";
import { writeGuard } from "../engine/when.ts";
import type { Action, Limits, Rule, RunSpec, Setting, SettingValue, State, Way, Workflow } from "../engine/workflow.ts";
import type { Paint } from "./fast/tell.ts";
import { wrap } from "./text.ts";

/** Describes a workflow for people: its settings, roles, states and ways. */
export function describeWorkflow(workflow: Workflow, file: string, columns: number, paint: Paint): string {
  const { settings, presets, roles, states } = workflow;
  const rows = (pairs: readonly Row[], indent = 2) => writeRows(pairs, columns, indent);
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", paint.bold(title), ...lines];
  const head: Row[] = [
    ["file", file],
    ["hash", workflow.hash],
    ["starts in", startText(workflow)],
    ["limits", limitsText(workflow.limits)],
    ["counters", workflow.counters.join(", ")],
    ["sections", workflow.sections.map((name) => `${name} (${(workflow.owners[name] ?? []).join(" or ")})`).join(", ")],
    ["prompts", Object.keys(workflow.prompts).join(", ")],
    ["answers", Object.keys(workflow.schemas).join(", ")],
  ];
  return [
    paint.bold(workflow.name),
    ...(workflow.description === "" ? [] : [wrap(workflow.description, columns)]),
    ...rows(head.filter(([, value]) => value !== "")),
    ...section("Settings", rows(Object.entries(settings).map(([name, setting]) => [name, settingText(setting)]))),
    ...section("Presets", rows(Object.entries(presets).map(([name, values]) => [name, presetText(values)]))),
    ...section("Roles", rows(Object.entries(roles).map(([name, run]) => [name, runText(run)]))),
    ...section(
      "States",
      Object.values(states).flatMap((state) => stateLines(state, stateWidth(workflow), columns)),
    ),
    ...section(
      "Promises",
      workflow.promises.map(({ written }) => `  ${written}`),
    ),
    ...section("Ways (→ asked for or by a rule, ⇢ by the engine at a limit)", wayLines(workflow, columns, paint)),
  ].join("\n");
}

type Row = readonly [name: string, value: string];

function writeRows(pairs: readonly Row[], columns: number, indent: number): readonly string[] {
  const width = Math.max(...pairs.map(([name]) => name.length));
  const start = indent + width + 2;
  return pairs.map(([name, value]) =>
    `${" ".repeat(indent)}${name.padEnd(width)}  ${wrap(value, columns - start, " ".repeat(start))}`.trimEnd(),
  );
}

function startText({ initial, unclear }: Workflow): string {
  const [first = "", ...others] = initial;
  const also = others.length > 0 ? `; a person may also create a task in ${others.join(", ")}` : "";
  return `${first}${unclear === first ? "" : `, or ${unclear} without a summary`}${also}`;
}

function settingText({ default: value, description, oneOf, min, max }: Setting): string {
  const bounds = [
    ...(oneOf ? [`one of ${oneOf.join(", ")}`] : []),
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
  ];
  return [
    `${valueText(value)}${bounds.length > 0 ? ` (${bounds.join(", ")})` : ""}`,
    ...(description === "" ? [] : [description]),
  ].join(": ");
}

function presetText(values: Readonly<Record<string, SettingValue>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(", ");
}

function valueText(value: SettingValue): string {
  if (Array.isArray(value)) return `[${value.join(", ")}]`;
  if (typeof value !== "object") return String(value);
  return `{ ${Object.entries(value)
    .map(([key, each]) => `${key}: ${each}`)
    .join(", ")} }`;
}

function runText(run: RunSpec): string {
  const harness = run.harness === "task" || run.harness === "review" ? `the ${run.harness} harness` : run.harness;
  return [
    `${run.mode} on ${harness}`,
    `${run.permissions} permissions`,
    ...(run.model === undefined ? [] : [`model ${run.model}`]),
    ...(run.window === undefined ? [] : [`window ${run.window}`]),
    ...(run.keep ? ["kept between states"] : []),
    ...(limitsText(run.limits) === "" ? [] : [limitsText(run.limits)]),
  ].join(", ");
}

function limitsText(limits: Limits): string {
  const value = (each: number | { readonly setting: string }) =>
    typeof each === "number" ? String(each) : `{${each.setting}}`;
  const { attempts, steps, rounds, stall, time, cost, backoff } = limits;
  return [
    ...(attempts === undefined ? [] : [`${attempts} attempts`]),
    ...(steps === undefined ? [] : [`${value(steps)} steps`]),
    ...(rounds === undefined ? [] : [`${value(rounds)} rounds`]),
    ...(stall === undefined ? [] : [`stalled after ${stall}s`]),
    ...(time === undefined ? [] : [`${time}s`]),
    ...(cost === undefined ? [] : [`$${cost}`]),
    ...(backoff === undefined
      ? []
      : [
          `pauses of ${backoff.first}s growing ×${backoff.factor}${backoff.max === undefined ? "" : ` to ${backoff.max}s`}`,
        ]),
  ].join(", ");
}

function stateWidth(workflow: Workflow): number {
  return Math.max(...Object.keys(workflow.states).map((name) => name.length));
}

function stateLines(state: State, width: number, columns: number): readonly string[] {
  const limits = limitsText(state.limits);
  const about = [
    describeWait(state),
    ...(state.unless.length > 0 ? [`skipped when ${state.unless.map(writeGuard).join(" and ")}`] : []),
    ...(state.evidence.length > 0 ? [`evidence: ${state.evidence.map(writeGuard).join(" and ")}`] : []),
    ...(state.do.length > 0 ? [`does ${state.do.map(actionText).join(", ")}`] : []),
    ...(limits === "" ? [] : [`limits ${limits}`]),
    ...(state.respawn === undefined || state.terminal ? [] : [`respawn prompt ${state.respawn.prompt}`]),
  ];
  const indent = " ".repeat(width + 4);
  const first = `  ${state.name.padEnd(width)}  ${wrap(about.join("; "), columns - width - 4, indent)}`;
  const rules = state.rules.map(
    (rule, i) => `${indent}${i + 1}. ${wrap(ruleText(rule), columns - width - 8, `${indent}   `)}`,
  );
  return [first, ...rules];
}

function ruleText(rule: Rule): string {
  const { artifact, does } = rule;
  const conditions = [
    ...(rule.on === undefined ? [] : [`on ${rule.on.join(" or ")}`]),
    ...Object.entries(rule.result ?? {}).map(([field, value]) => `${field}: ${String(value)}`),
    ...rule.when.map(writeGuard),
    ...(artifact === undefined ? [] : [artifact === "none" ? "no artifact" : `with ${gateText(artifact)}`]),
  ];
  const action =
    does.kind === "then"
      ? `→ ${does.to}`
      : `${does.kind}${does.after?.to === undefined ? "" : `, ⇢ ${does.after.to} after ${does.after.count} failures`}`;
  return conditions.length === 0 ? action : `${conditions.join(", ")}: ${action}`;
}

function wayLines(workflow: Workflow, columns: number, paint: Paint): readonly string[] {
  const effects = effectsOfWays(workflow);
  const { shared, single } = splitWays(workflow);
  const width = Math.max(stateWidth(workflow), "any".length);
  const lines = (way: Way, from: string, runs: string) => {
    const arrowed = `  ${from.padEnd(width)} ${arrow(way)} ${way.to.padEnd(width)}`;
    const indent = " ".repeat(6);
    const implied = way.implied === "rule" ? " (implied by a rule)" : "";
    return [
      `${paint.cyan(arrowed)}  ${wrap(wayLabel(workflow, way) + implied, columns - arrowed.length - 2, " ".repeat(arrowed.length + 2))}`,
      ...(way.hooks.length === 0
        ? []
        : [
            `${indent}${paint.dim("hooks")}  ${wrap(way.hooks.map(actionText).join(", "), columns - 13, `${indent}       `)}`,
          ]),
      ...(runs === "" ? [] : [`${indent}${paint.dim("runs")}   ${wrap(runs, columns - 13, `${indent}       `)}`]),
    ];
  };
  const sharedRuns = (ways: readonly Way[]) => {
    const special = ways
      .map((way) => [way.from, runsText(effects.get(way))] as const)
      .filter(([, runs]) => runs !== "");
    return special.map(([from, runs]) => `from ${from}: ${runs}`).join("; ");
  };
  return [
    ...single.flatMap((way) => lines(way, way.from, runsText(effects.get(way)))),
    ...shared.flatMap((ways) => ways.slice(0, 1).flatMap((way) => lines(way, "any", sharedRuns(ways)))),
  ];
}

function runsText(effects: readonly Effect[] | undefined): string {
  if (effects === undefined) return "no task ever takes this way";
  const { ended, started, told } = runsOf(effects);
  const part = (verb: string, roles: readonly string[]) => (roles.length === 0 ? [] : [`${verb} ${roles.join(", ")}`]);
  return [...part("ends", ended), ...part("starts", started), ...part("tells", told)].join("; ");
}

const maxMessage = 60;

function actionText({ name, params, run }: Action): string {
  const shown = Object.entries({ ...(run === undefined ? {} : { role: run.role }), ...params });
  if (shown.length === 0) return name;
  const text = (value: unknown) => {
    const plain = String(value).replace(/\s+/g, " ");
    const short = plain.length > maxMessage ? `${plain.slice(0, maxMessage)}…` : plain;
    return short.includes(" ") ? `"${short}"` : short;
  };
  return `${name} (${shown.map(([key, value]) => `${key}: ${text(value)}`).join(", ")})`;
}

/** A compiled workflow for programs. `show --json` prints it, and its help documents the form. */
export function workflowDocument(workflow: Workflow, file: string) {
  const effects = effectsOfWays(workflow);
  return {
    name: workflow.name,
    description: workflow.description,
    hash: workflow.hash,
    file,
    initial: workflow.initial,
    unclear: workflow.unclear,
    settings: workflow.settings,
    presets: workflow.presets,
    roles: workflow.roles,
    limits: workflow.limits,
    pollInterval: workflow.pollInterval,
    states: Object.values(workflow.states).map(stateDocument),
    ways: workflow.ways.map((way) => wayDocument(way, effects.get(way))),
    prompts: workflow.prompts,
    schemas: workflow.schemas,
    counters: workflow.counters,
    sections: workflow.sections,
    owners: workflow.owners,
    promises: workflow.promises.map(({ written }) => written),
  };
}

/** The roles whose runs a way ends, starts or sends a message. */
function runsOf(effects: readonly Effect[]) {
  const of = (action: string) => effects.filter((effect) => effect.action === action);
  const name = ({ agent }: Effect) => agent?.run.split("#")[0] ?? "";
  return {
    ended: of("kill_agent").map(({ params }) => String(params.role)),
    started: of("spawn_agent").map(name),
    told: of("notify_agent").map(name),
  };
}

/** The effects of a way. If no task takes it, only its hooks are known. Counters change in the decision itself. */
function effectNames(way: Way, effects: readonly Effect[] | undefined): readonly string[] {
  if (effects !== undefined) return effects.map(({ action }) => action);
  return way.hooks.map(({ name }) => name).filter((name) => name !== "increment" && name !== "set_field");
}

function wayDocument(way: Way, effects: readonly Effect[] | undefined) {
  return {
    from: way.from,
    to: way.to,
    by: way.by,
    when: way.when.map(writeGuard),
    gates: way.gates,
    hooks: way.hooks.map(actionDocument),
    implied: way.implied,
    effects: effectNames(way, effects),
    runs: runsOf(effects ?? []),
  };
}

function stateDocument(state: State) {
  return {
    name: state.name,
    terminal: state.terminal,
    outcome: state.outcome,
    wait: state.wait,
    unless: state.unless.map(writeGuard),
    evidence: state.evidence.map(writeGuard),
    do: state.do.map(actionDocument),
    rules: state.rules.map(ruleDocument),
    limits: state.limits,
    respawn: state.respawn,
    ask: state.ask,
  };
}

function ruleDocument(rule: Rule) {
  return { ...rule, when: rule.when.map(writeGuard) };
}

function actionDocument({ name, params }: Action) {
  return { action: name, params };
}
