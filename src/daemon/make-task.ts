import { Refusal } from "../api/client.ts";
import type { Routes } from "../api/routes.ts";
import type { TypeOf } from "../api/wire.ts";
import { parseTaskDocument } from "../documents/task-document.ts";
import { branchNameProblem } from "../engine/branch-name.ts";
import { isForParts } from "../engine/child-workflows.ts";
import { createTask as decideCreation } from "../engine/create.ts";
import type { Facts } from "../engine/request.ts";
import { blankIdentity, type TaskIdentity } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import { type ResolvedConfig, resolveConfig } from "../home/config.ts";
import { readRepositoryConfig, trustedChoices } from "../home/trust.ts";
import { findWorkflow } from "../home/workflows.ts";
import type { Project, StoredDocument, StoredTask } from "../ports/store.ts";
import { budgetIn } from "./agents/budgets.ts";
import {
  areAllowed,
  checkNeeds,
  fullPermissionRuns,
  neededHarnesses,
  notAllowed,
  warnMissing,
} from "./agents/harnesses.ts";
import { refuseModels, unusedModel } from "./agents/models.ts";
import { findTask, idsOf } from "./authorise.ts";
import {
  aboutPullRequest,
  adoptPullRequest,
  branchesOf,
  bringBranch,
  continueBranch,
  continuing,
  findPullRequest,
  mustHaveStart,
  takenOver,
} from "./bring-work.ts";
import { type Chosen, childWorkflows, chooseWorkflow, setPermissions, untrustedChoices } from "./choose-workflow.ts";
import type { Core } from "./core.ts";
import { takeTicket, ticketTurn } from "./crew/tickets.ts";
import { readDependencies } from "./dependencies.ts";
import { withPreset } from "./presets.ts";
import { isShared, mustHave } from "./project.ts";
import { firstDocument } from "./task-documents.ts";
import { isoTime, viewOf } from "./views.ts";
import { claimBranch, otherTaskWith } from "./workspaces/own-branches.ts";

type Answer = TypeOf<Routes["createTask"]["answer"]>;

type Body = TypeOf<NonNullable<Routes["createTask"]["body"]>>;

export async function makeTask(core: Core, body: Body): Promise<Answer> {
  const known = await mustHave(core, body.project);
  if (body.ticket === undefined) return create(core, known, body);
  return core.inTurn(ticketTurn(known.name), async () => create(core, known, await takeTicket(core, known, body)));
}

async function create(core: Core, known: Project, body: Body): Promise<Answer> {
  const project: Project = body.allowFullPermissions === true ? { ...known, fullPermissions: "allow" } : known;
  const from = body.from === undefined ? undefined : await endedTask(core, body.from, project.name);
  const config = configFor(
    core,
    project,
    from === undefined ? body : { ...inherited(core, project, from, body), ...body },
  );
  const chosen = await chooseWorkflow(core, project, config.workflow.value, config.workflow.source);
  if (isForParts(chosen.workflow))
    throw new Fault(
      "task.invalid",
      `The workflow "${chosen.found.name}" is only for the parts of another task's plan: it merges into the parent's branch.`,
      {
        hint: `Choose one for a whole task, such as: --workflow default\nSee what there is: signalbox workflow list`,
      },
    );
  const adopted = body.pullRequest === undefined ? undefined : await findPullRequest(core, project, body);
  const context = body.context ?? (adopted && aboutPullRequest(adopted));
  const document = await firstDocument(core, chosen.workflow, context, from);
  const id = await freeId(core);
  const given = {
    ...takenOver(from),
    ...(adopted && { summary: adopted.title }),
    ...body,
    ...(adopted && branchesOf(adopted)),
  };
  const base = await baseOf(core, project, given);
  const own = await identityOf(core, project, given, config, id, from);
  const identity = { ...own, base, prUrl: adopted?.url ?? "" };
  // An agent would work on it before any review, and bypass what its workflow says about merging.
  if (isShared(project, identity, identity.branch)) {
    const problem = `"${identity.branch}" is the branch that work is merged into. A task needs its own branch.`;
    throw new Fault("task.invalid", problem, { hint: "Choose another name, or none." });
  }
  const children = await childWorkflows(core, project, chosen);
  const warnings = [
    ...untrustedChoices(core, project),
    ...(await checkHarnesses(core, project, [chosen.workflow, ...children], identity)),
    ...(body.model ? unusedModel([chosen.workflow, ...children]).map(({ text, fix }) => `${text} ${fix}`) : []),
  ];
  const facts = await firstFacts(core, project, document);
  const { status } = body;
  const kept = settingsFor(chosen, from, body);
  const { preset, settings } = withPreset(chosen.workflow, chosen.found.name, config.presets.value, kept);
  const decideNew = (number: number) => {
    const decision = decideCreation(
      chosen.workflow,
      {
        ...identity,
        number,
        workflow: chosen.found.name,
        ...(status === undefined ? {} : { status }),
        ...(preset === undefined ? {} : { preset }),
        ...(settings === undefined ? {} : { settings }),
      },
      facts,
    );
    if (decision.kind === "rejected") throw new Refusal(decision.reasons);
    if (decision.kind === "ignored") throw new Fault("daemon.error", decision.why);
    return decision;
  };
  // Decided once before anything is changed, so that a refused request changes nothing.
  const { task: wanted } = decideNew(0);
  refuseModels(core.agents?.ports, config.modelTiers.value, [chosen.workflow, ...children], wanted);
  const target = identity.base || project.defaultBranch;
  await mustHaveStart(core, project, chosen.workflow, target);
  await branchGivenBack(core, identity);
  if (adopted === undefined && core.repositories !== undefined)
    await claimBranch(core.store, await core.repositories.workspacesOf(project), project, identity, from, target);
  const notes = from === undefined ? [] : await continueBranch(core, project, from, identity.branch, target);
  if (adopted !== undefined && adopted.url !== "") await bringBranch(core, project, adopted.head, adopted.headCommit);
  await core.workflows.keep(chosen.workflow, chosen.text);
  const stored = await core.store.createTask(project.name, (number) => {
    const { task, effects, ...decision } = decideNew(number);
    const events = from === undefined ? decision.events : decision.events.map((event) => continuing(event, from.task));
    return { task, document, events, effects, at: core.clock.now() };
  });
  if (adopted !== undefined) await adoptPullRequest(core, stored.task, adopted);
  // Before the task starts.
  if (body.allowFullPermissions === true) await setPermissions(core, project.name, "allow");
  core.changed(stored);
  return {
    task: await viewOf(core, stored),
    workflow: { from: chosen.found.from, file: chosen.found.file },
    warnings: [...warnings, ...notes],
  };
}

/** The values that a task takes over from the task that it continues, where the caller gives none. */
function inherited(core: Core, { path }: Project, { task }: StoredTask, { harness }: Body): Partial<Body> {
  const { workflow, reviewHarness, model } = task;
  // A harness that served every role is replaced for every role.
  const isApart = harness === undefined || reviewHarness !== task.harness;
  return {
    // The workflow of a part leads nowhere without its parent.
    ...(task.part === undefined && isWorkflow({ home: core.home, repository: path }, workflow) ? { workflow } : {}),
    ...(task.harness === "" ? {} : { harness: task.harness }),
    ...(isApart && reviewHarness !== "" ? { reviewHarness } : {}),
    ...(model === "" ? {} : { model }),
  };
}

function isWorkflow(places: Parameters<typeof findWorkflow>[0], name: string): boolean {
  try {
    return findWorkflow(places, name).name === name;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** The settings of a continued task apply to the new one if its workflow is the same and has them. */
function settingsFor(
  { found, workflow }: Chosen,
  from: StoredTask | undefined,
  body: Body,
): Pick<Body, "preset" | "settings"> {
  if (from === undefined || from.task.workflow !== found.name || body.preset !== undefined) return body;
  const { preset, settings } = from.task;
  const kept = Object.entries(settings).filter(([name]) => Object.hasOwn(workflow.settings, name));
  return {
    ...(Object.hasOwn(workflow.presets, preset) ? { preset } : {}),
    settings: { ...Object.fromEntries(kept), ...body.settings },
  };
}

async function identityOf(
  core: Core,
  project: Project,
  body: Body,
  config: ResolvedConfig,
  id: string,
  from: StoredTask | undefined,
): Promise<TaskIdentity> {
  const branch = body.branch ?? `${config.branchPrefix.value}${id}`;
  const problem = branchNameProblem(branch);
  if (problem !== undefined) throw new Fault("task.invalid", problem, { hint: "Choose another name." });
  const now = isoTime(core.clock.now());
  const harness = config.harness.value;
  const [parent = ""] = body.parent === undefined ? [] : await idsOf(core, [body.parent], project.name);
  return {
    ...blankIdentity,
    id,
    project: project.name,
    branch,
    summary: (body.summary ?? from?.task.summary ?? "").trim(),
    harness,
    reviewHarness: config.reviewHarness.value || harness,
    model: config.model.value,
    parent,
    ...(await readDependencies(core, body, project.name)),
    ...(body.budget === undefined ? {} : { budget: budgetIn(body.budget) }),
    labels: [...new Set(body.labels ?? [])],
    priority: body.priority ?? 0,
    ticket: body.ticket ?? "",
    autostart: config.autostart.value,
    createdAt: now,
    updatedAt: now,
  };
}

/** The branch that the work starts from and is merged into; empty for the default branch. */
async function baseOf(core: Core, project: Project, { base = "", branch }: Body): Promise<string> {
  if (base === "" || base === project.defaultBranch) return "";
  if (base === branch)
    throw new Fault("task.invalid", `The task's branch and its base are both "${base}".`, { hint: "Choose another." });
  if (core.repositories === undefined) return base;
  const { control } = await core.repositories.workspacesOf(project);
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  if (branches[base] !== undefined) return base;
  const known = Object.keys(branches);
  throw new Fault("task.invalid", `${project.path} has no branch "${base}" for the task to start from.`, {
    hint: known.length > 0 ? `It has ${known.slice(0, 10).join(", ")}.` : "Make a first commit there.",
  });
}

async function endedTask(core: Core, reference: string, project: string): Promise<StoredTask> {
  const about = { params: { task: reference }, query: { project }, caller: { kind: "human" as const } };
  const found = await findTask(core, { ...about, folder: "", body: {}, lastEvent: "" });
  const stored = await settledTask(core, found);
  if (!stored.isOpen) return stored;
  const { id, held, status } = stored.task;
  if (await isTerminal(core, stored))
    throw new Fault("task.invalid", `The task ${id} has ended in "${status}", but its last effects are not done.`, {
      hint:
        held === undefined
          ? `See which effects are left, and try again when they are done: signalbox task explain ${id}`
          : `Retry them first: signalbox task retry ${id}`,
    });
  throw new Fault("task.invalid", `The task ${id} is not over, so its branch cannot be continued yet.`, {
    hint: `See what it waits for: signalbox task explain ${id}`,
  });
}

async function isTerminal({ workflows }: Core, { task }: StoredTask): Promise<boolean> {
  return (await workflows.get(task.workflowHash)).states[task.status]?.terminal === true;
}

/** Waits for a task that was merged just now to release its workspace, unless that has failed. */
async function settledTask(core: Core, found: StoredTask): Promise<StoredTask> {
  let stored = found;
  for (let tries = 0; tries < maxSettleChecks && stored.isOpen && stored.task.held === undefined; tries++) {
    if (!(await isTerminal(core, stored))) return stored;
    await new Promise<void>((resolve) => core.clock.after(settlePause, resolve));
    stored = (await core.store.getTask(stored.task.id)) ?? stored;
  }
  return stored;
}

/** Waits for the end of another task with this branch, which may have been merged just now. */
async function branchGivenBack(core: Core, identity: TaskIdentity): Promise<void> {
  if (identity.branch.includes(identity.id)) return;
  const other = await otherTaskWith(core.store, identity, identity.branch);
  const stored = other && (await core.store.getTask(other.id));
  if (stored !== undefined) await settledTask(core, stored);
}

/** Milliseconds between two checks. */
const settlePause = 100;

const maxSettleChecks = 100;

export async function firstFacts(core: Core, project: Project, document: StoredDocument): Promise<Facts> {
  return {
    document: parseTaskDocument(document.text),
    head: "",
    artifacts: {},
    numbers: { workspace: 0 },
    taskFileTracked: false,
    poolFull: await core.scheduler.isPoolFull(project.name, ""),
  };
}

export async function freeId({ ids, store }: Core): Promise<string> {
  for (;;) {
    const id = ids.task();
    if ((await store.getTask(id)) === undefined) return id;
  }
}

/** The values of the configuration that the creator of a task may override. */
type ConfigFlags = Partial<TypeOf<NonNullable<Routes["createTask"]["body"]>>>;

/** The command line has already combined flags and environment. */
export function configFor(
  core: Pick<Core, "home" | "places" | "config">,
  project: Project,
  flags: ConfigFlags = {},
): ResolvedConfig {
  const repository = readRepositoryConfig(core.home, project.path);
  const { workflow, harness, reviewHarness, branchPrefix } = project;
  const recorded = Object.entries({ workflow, harness, reviewHarness, branchPrefix }).filter(
    ([, value]) => value !== "",
  );
  return resolveConfig({
    flag: {
      workflow: flags.workflow,
      harness: flags.harness,
      reviewHarness: flags.reviewHarness,
      model: flags.model,
      autostart: flags.autostart,
      branchPrefix: flags.branchPrefix,
    },
    repository: repository && trustedChoices(repository, core.places),
    project: Object.fromEntries(recorded),
    user: core.config().values,
  });
}

/** Refuses harnesses in which a task's agents could never be started. Returns further warnings about them. */
async function checkHarnesses(
  { agents }: Core,
  project: Project,
  workflows: readonly Workflow[],
  task: { readonly harness: string; readonly reviewHarness: string },
): Promise<readonly string[]> {
  if (agents === undefined) return [];
  const { harnesses } = agents.ports;
  const reasons = workflows.flatMap((workflow) => checkNeeds(harnesses, workflow, task, agents.ports.config()));
  if (reasons.length > 0) throw new Refusal(reasons);
  const needed = workflows.flatMap((workflow) => neededHarnesses(workflow, task));
  const missing = await warnMissing(harnesses, [...new Set(needed)]);
  const isAllowed = areAllowed(agents.ports.config(), project);
  const unasked = isAllowed ? [] : workflows.flatMap((workflow) => fullPermissionRuns(harnesses, workflow, task));
  return [...new Set([...missing, ...unasked.map(({ title }) => notAllowed(title, project.name))])];
}
