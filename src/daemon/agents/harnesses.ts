import type { Reason } from "../../engine/decision.ts";
import { placedRuns } from "../../engine/run-spec.ts";
import { chooseTools, type ToolClass, toolClasses } from "../../engine/tools.ts";
import type { RunSpec, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { AgentConfig } from "../../home/agent-fields.ts";
import { createMemo } from "../../keyed.ts";
import type { Detected, Harness } from "../../ports/harness.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { mayChangeFiles, sandboxChoice } from "./confine.ts";

interface Chosen {
  readonly harness: string;
  readonly reviewHarness: string;
}

/**
 * Why agents of such a task could not be started: an unknown harness, or one that lacks a capability that the workflow
 * needs.
 */
export function checkNeeds(
  harnesses: Harnesses,
  workflow: Workflow,
  task: Chosen,
  config: SandboxConfig,
): readonly Reason[] {
  const known = harnesses();
  const unknown = [...new Set([task.harness, task.reviewHarness, ...neededHarnesses(workflow, task)])].filter(
    (name) => name !== "" && !known.has(name),
  );
  const reasons = unknown.map((name) => ({
    code: "bad-value" as const,
    text: `There is no harness "${name}".`,
    fix: `Known harnesses: ${[...known.keys()].join(", ")}. See what is installed: signalbox harness list`,
  }));
  const lacking = runsOf(workflow).flatMap((spec) => {
    const harness = known.get(harnessOf(spec, task));
    const lack = harness && lacks(harness, spec, config);
    return lack === undefined ? [] : [`The workflow "${workflow.name}" needs more for its ${spec.role}: ${lack}`];
  });
  const fix = "Choose another harness or workflow. See what each can do: signalbox harness check";
  return [...reasons, ...[...new Set(lacking)].map((text) => ({ code: "bad-value" as const, text, fix }))];
}

/** The harnesses in which the runs of such a task are started. */
export function neededHarnesses(workflow: Workflow, task: Chosen): readonly string[] {
  return [...new Set(runsOf(workflow).map((spec) => harnessOf(spec, task)))];
}

function runsOf(workflow: Workflow): readonly RunSpec[] {
  return placedRuns(workflow).map(({ spec }) => spec);
}

interface FullPermissions {
  readonly harness: string;
  readonly title: string;
  readonly roles: readonly string[];
}

/**
 * Refuses a run with full permissions in a project where no person has allowed them. Its task is held until a person
 * does.
 */
export async function checkPermissions(
  { store, config }: { readonly store: Store; config(): AgentConfig },
  harness: Harness,
  spec: RunSpec,
  project: string,
): Promise<void> {
  if (!hasFullPermissions(harness, spec) || areAllowed(config(), await store.getProject(project))) return;
  throw new Fault("permissions.unasked", notAllowed(harness.title, project));
}

/** The reason for holding a task, and the warning to its creator. */
export function notAllowed(title: string, project: string): string {
  return `${title} would work with full permissions in ${project}: to run commands, write files and use the network as you, without asking. No person has allowed that yet. To allow it: ${allowCommand(project)}`;
}

export function allowCommand(project: string): string {
  return `signalbox project update ${project} --full-permissions allow`;
}

export function areAllowed(
  { agentsFullPermissions }: Pick<AgentConfig, "agentsFullPermissions">,
  project: Pick<Project, "fullPermissions"> | undefined,
): boolean {
  return agentsFullPermissions === "allow" || project?.fullPermissions === "allow";
}

/** The harnesses in which agents of such a task have full permissions, with the roles that run in each. */
export function fullPermissionRuns(harnesses: Harnesses, workflow: Workflow, task: Chosen): readonly FullPermissions[] {
  const found = new Map<string, { harness: Harness; roles: Set<string> }>();
  for (const { spec, harness } of permittedRuns(harnesses, workflow, task)) {
    const entry = found.get(harness.name) ?? { harness, roles: new Set() };
    found.set(harness.name, { harness, roles: entry.roles.add(spec.role) });
  }
  return [...found.values()].map(({ harness: { name, title }, roles }) => ({
    harness: name,
    title,
    roles: [...roles],
  }));
}

/** Whether all runs with full permissions would get a sandbox where one can be made. */
export function areConfined(
  harnesses: Harnesses,
  workflow: Workflow,
  task: Chosen,
  config: Pick<AgentConfig, "agentsSandbox">,
): boolean {
  return permittedRuns(harnesses, workflow, task).every(({ spec }) => sandboxChoice(config, spec) !== "off");
}

/** The runs of a task that would have full permissions. */
function permittedRuns(
  harnesses: Harnesses,
  workflow: Workflow,
  task: Chosen,
): readonly { readonly spec: RunSpec; readonly harness: Harness }[] {
  return runsOf(workflow).flatMap((spec) => {
    const harness = harnesses().get(harnessOf(spec, task));
    return harness === undefined || !hasFullPermissions(harness, spec) ? [] : [{ spec, harness }];
  });
}

/** A run that can neither write nor execute anything does no harm, whatever its permissions are called. */
function hasFullPermissions({ isScripted }: Harness, { permissions, tools }: RunSpec): boolean {
  if (permissions !== "full" || isScripted) return false;
  return mayChangeFiles({ permissions, tools });
}

/** Every harness that agents can be started in, by name. Called for each question, because users define their own. */
export type Harnesses = () => ReadonlyMap<string, Harness>;

export function harnessNamed(harnesses: Harnesses, name: string): Harness {
  const all = harnesses();
  const found = all.get(name);
  if (found !== undefined) return found;
  throw new Fault("harness.unknown", `There is no harness "${name}".`, {
    hint: `Known harnesses: ${[...all.keys()].join(", ")}. See what is installed: signalbox harness list`,
  });
}

/** The harness of a run: the task's, the one for its reviews, or one that the workflow names. */
export function harnessOf(spec: Pick<RunSpec, "harness">, task: { harness: string; reviewHarness: string }): string {
  if (spec.harness === "task") return task.harness;
  return spec.harness === "review" ? task.reviewHarness || task.harness : spec.harness;
}

/** Why a harness cannot make such a run; undefined where it can. */
export function lacks({ title, can }: Harness, spec: RunSpec, config: SandboxConfig): string | undefined {
  if (spec.mode === "session" && !can.session) return `${title} cannot run in a terminal.`;
  if (spec.mode !== "session" && !can.turn) return `${title} cannot run without a terminal.`;
  if ((spec.mode === "steps" || spec.mode === "dialogue") && !can.resume)
    return `${title} cannot resume an earlier session, which "${spec.mode}" needs.`;
  return toolProblem(title, [...can.withholds, ...closedTo(spec, config)], spec);
}

/** A class of tools that the run may not use must be withheld, by its harness or its sandbox. */
function toolProblem(title: string, withheld: readonly ToolClass[], { tools }: RunSpec): string | undefined {
  const { classes } = chooseTools(tools);
  // A run that may execute commands can write files and reach the web with them.
  const free = classes.has("execute")
    ? []
    : toolClasses.filter((each) => each !== "read" && !classes.has(each) && !withheld.includes(each));
  if (free.length === 0) return undefined;
  const what = new Intl.ListFormat("en", { type: "disjunction" }).format(free.map((each) => deeds[each]));
  return `${title} cannot be kept from tools that ${what}, unless it runs in a sandbox without write access and with "network: proxy" or "off".`;
}

const deeds: Readonly<Record<ToolClass, string>> = {
  read: "read files",
  write: "write files",
  execute: "execute commands",
  web: "reach the web",
};

type SandboxConfig = Pick<AgentConfig, "agentsSandbox">;

/**
 * The classes of tools that a sandbox withholds from a run. Only one without which the run is not started counts. Where
 * neither files can be changed nor the network be reached, commands can only read.
 */
function closedTo(spec: RunSpec, config: SandboxConfig): readonly ToolClass[] {
  if (sandboxChoice(config, spec) !== "on") return [];
  const write = mayChangeFiles(spec) ? [] : (["write"] as const);
  const web = spec.network === "off" || spec.network === "proxy" ? (["web"] as const) : [];
  return [...write, ...web, ...(write.length > 0 && web.length > 0 ? (["execute"] as const) : [])];
}

/**
 * Caches whether a program is installed: asking for its version can take seconds, and happens before every start. A
 * missing program is asked for again.
 */
export function cacheDetection(clock: Clock): (harness: Harness) => Harness {
  return (harness) => {
    const known = createMemo<Detected>({ maxAge: { clock, ms: cacheTime }, keeps: ({ found }) => found });
    return { ...harness, detect: () => known.get("", () => harness.detect()) };
  };
}

const cacheTime = 10 * 60_000;

/** Milliseconds: programs may take seconds to print their version, and the caller should not wait for that. */
const detectTimeout = 1_500;

/** Warnings about needed harnesses that are not installed, as far as that is known within the timeout. */
export async function warnMissing(harnesses: Harnesses, names: readonly string[]): Promise<readonly string[]> {
  const known = harnesses();
  const found = names.map(async (name) => {
    const harness = known.get(name);
    if (harness === undefined) return [];
    const detected = await Promise.race([harness.detect().catch(() => undefined), afterTimeout()]);
    return detected?.found === false ? [`${harness.title} is not installed. ${detected.hint}`.trim()] : [];
  });
  return (await Promise.all(found)).flat();
}

function afterTimeout(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), detectTimeout).unref());
}
