import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import type { TypeOf } from "../../api/wire.ts";
import { branchNameProblem } from "../../engine/branch-name.ts";
import { createTask as decideCreation } from "../../engine/create.ts";
import type { Facts } from "../../engine/request.ts";
import { blankIdentity, type TaskIdentity } from "../../engine/task.ts";
import { bodyOf, parseTaskDocument, type Section, withSection } from "../../engine/task-document.ts";
import type { Settings, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { configFault, loadConfig } from "../../home/config.ts";
import { repositoryPlaces } from "../../home/places.ts";
import { type ResolvedConfig, resolveConfig } from "../../home/resolve-config.ts";
import { findWorkflow } from "../../home/workflows.ts";
import type { Project, Store, StoredDocument, StoredTask } from "../../ports/store.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { isShared } from "../forge/push-task.ts";
import { isoTime, viewOf } from "../views.ts";
import { isOwnBranch, noteOwnBranch } from "../workspaces/ended-branches.ts";
import { userBranches } from "../workspaces/user-branches.ts";
import { aboutPullRequest, adoptPullRequest, branchesOf, findPullRequest } from "./adopt-pull-request.ts";
import { bringBack, bringBranch } from "./bring-branch.ts";
import { checkHarnesses } from "./check-harnesses.ts";
import { type Chosen, chooseWorkflow } from "./choose-workflow.ts";
import { findTask } from "./find-task.ts";
import { idsOf } from "./move-task.ts";
import { mustHave } from "./projects.ts";
import { setPermissions } from "./set-permissions.ts";
import { takeTicket, ticketTurn } from "./take-ticket.ts";
import { unfinishedParts } from "./unfinished-parts.ts";

type Answer = TypeOf<Routes["createTask"]["answer"]>;
type Body = TypeOf<NonNullable<Routes["createTask"]["body"]>>;

export function createTask(core: Core): Handler<Routes["createTask"]> {
  return ({ body }) => makeTask(core, body);
}

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
  const chosen = await chooseWorkflow(core, project, config.workflow.value);
  const adopted = body.pullRequest === undefined ? undefined : await findPullRequest(core, project, body);
  const context = body.context ?? (adopted && aboutPullRequest(adopted));
  const document = await firstDocument(core, chosen.workflow, context, from);
  const id = await freeId(core);
  const given = adopted === undefined ? body : { summary: adopted.title, ...body, ...branchesOf(adopted) };
  const base = await baseOf(core, project, { ...(from === undefined ? {} : { base: from.task.base }), ...given });
  const own = await identityOf(core, project, given, config, id, from);
  const identity = { ...own, base, prUrl: adopted?.url ?? "" };
  // An agent would work in it before anybody has looked, and what its workflow says about merging would be gone round.
  if (isShared(project, identity, identity.branch)) {
    const problem = `"${identity.branch}" is the branch that work goes into, and a task has one of its own.`;
    throw new Fault("task.invalid", problem, { hint: "Choose another name, or none." });
  }
  const warnings = [
    ...unfinishedParts(chosen.workflow),
    ...(await checkHarnesses(core, project, chosen.workflow, identity)),
  ];
  const facts = await firstFacts(core, project, document);
  const { status } = body;
  const { preset, settings } = settingsFor(chosen, from, body);
  const decideNew = (number: number) => {
    const decision = decideCreation(
      chosen.workflow,
      {
        ...identity,
        number,
        workflow: chosen.found.name,
        ...(status === undefined ? {} : { status }),
        ...(preset === undefined ? {} : { preset }),
        ...(settings === undefined ? {} : { settings: settings as Settings }),
      },
      facts,
    );
    if (decision.kind === "rejected") throw new Refusal(decision.reasons);
    if (decision.kind === "ignored") throw new Fault("daemon.error", decision.why);
    return decision;
  };
  // Before anything is done for it: what is refused changes nothing.
  decideNew(0);
  const target = identity.base || project.defaultBranch;
  if (adopted === undefined) await claimBranch(core, project, identity, from, target);
  const notes = from === undefined ? [] : await continueBranch(core, project, from, identity.branch, target);
  if (adopted !== undefined && adopted.url !== "") await bringBranch(core, project, adopted.head, adopted.headCommit);
  await core.workflows.keep(chosen.workflow, chosen.text);
  const stored = await core.store.createTask(project.name, (number) => {
    const { task, events, effects } = decideNew(number);
    return { task, document, events, effects, at: core.clock.now() };
  });
  if (adopted !== undefined) await adoptPullRequest(core, stored.task, adopted);
  // Before anything of the task is begun.
  if (body.allowFullPermissions === true) await setPermissions(core, project.name, "allow");
  core.changed(stored);
  return {
    task: await viewOf(core, stored),
    workflow: { from: chosen.found.from, file: chosen.found.file },
    warnings: [...warnings, ...notes],
  };
}

/** What a task that continues another one takes over from it, where nobody says otherwise. */
function inherited(core: Core, { path }: Project, { task }: StoredTask, { harness }: Body): Partial<Body> {
  const { workflow, reviewHarness, model } = task;
  // One that was the same for everything is replaced for everything.
  const isApart = harness === undefined || reviewHarness !== task.harness;
  return {
    ...(isWorkflow({ home: core.home, repository: path }, workflow) ? { workflow } : {}),
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

/** The settings of a task that is continued hold for the new one too, as far as its workflow is the same and has them. */
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

/** A branch that a person has named, or that an ended task had, is the task's own unless the person had it before. */
async function claimBranch(
  core: Core,
  project: Project,
  identity: Pick<TaskIdentity, "id" | "branch">,
  from: StoredTask | undefined,
  target: string,
): Promise<void> {
  if (core.repositories === undefined || identity.branch.includes(identity.id)) return;
  const { control } = await core.repositories.workspacesOf(project);
  const branches = await userBranches(control, project);
  const tip = branches[target];
  const isInherited = from?.task.branch === identity.branch && (await isOwnBranch(control, from.task));
  if (tip !== undefined && (branches[identity.branch] === undefined || isInherited))
    await noteOwnBranch(control, identity, tip);
}

/** The branch of a merged task may be about to be deleted. */
async function continueBranch(
  core: Core,
  project: Project,
  from: StoredTask,
  branch: string,
  target: string,
): Promise<readonly string[]> {
  const bring = () => bringBack(core, project, from, branch, target);
  return core.repositories === undefined ? [] : core.repositories.inTurn(`branches ${project.name}`, bring);
}

/** Flags and the environment have been put together by the command line. */
export function configFor(core: Core, project: Project, flags: Partial<Body> = {}): ResolvedConfig {
  const file = repositoryPlaces(core.home, project.path)?.config;
  const repository = file === undefined ? undefined : loadConfig(file, "project");
  if (file !== undefined && repository !== undefined && repository.problems.length > 0)
    throw configFault(file, repository.problems);
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
    repository: repository?.config,
    project: Object.fromEntries(recorded),
    user: core.config().values,
  });
}

async function identityOf(
  core: Core,
  project: Project,
  body: Body,
  config: ResolvedConfig,
  id: string,
  from: StoredTask | undefined,
): Promise<TaskIdentity> {
  const branch = body.branch ?? from?.task.branch ?? `${config.branchPrefix.value}${id}`;
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
    dependsOn: await idsOf(core, body.dependsOn ?? [], project.name),
    labels: [...new Set(body.labels ?? [])],
    priority: body.priority ?? 0,
    ticket: body.ticket ?? "",
    autostart: config.autostart.value,
    createdAt: now,
    updatedAt: now,
  };
}

/** The branch that the work starts from and goes into; empty for the default one. */
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
    throw new Fault(
      "task.invalid",
      `The task ${id} has ended in "${status}", but what belongs to its end is not done.`,
      {
        hint:
          held === undefined
            ? `See what it still owes, then ask again: signalbox task explain ${id}`
            : `Try that again first: signalbox task retry ${id}`,
      },
    );
  throw new Fault("task.invalid", `The task ${id} is not over, so its branch cannot be continued yet.`, {
    hint: `See what it waits for: signalbox task explain ${id}`,
  });
}

async function isTerminal({ workflows }: Core, { task }: StoredTask): Promise<boolean> {
  return (await workflows.get(task.workflowHash)).states[task.status]?.terminal === true;
}

/** A task that was merged just now still has its workspace to give back: that is waited for, unless it has failed. */
async function settledTask(core: Core, found: StoredTask): Promise<StoredTask> {
  let stored = found;
  for (let tries = 0; tries < mostTries && stored.isOpen && stored.task.held === undefined; tries++) {
    if (!(await isTerminal(core, stored))) return stored;
    await new Promise<void>((resolve) => core.clock.after(pause, resolve));
    stored = (await core.store.getTask(stored.task.id)) ?? stored;
  }
  return stored;
}

/** In milliseconds. */
const pause = 100;
const mostTries = 100;

/** What is known before anybody has worked: the context, and what an earlier task of the branch wrote. */
async function firstDocument(
  { store }: Core,
  workflow: Workflow,
  context: string | undefined,
  from: StoredTask | undefined,
): Promise<StoredDocument> {
  const before = from === undefined ? noDocument : await continuedDocument(store, workflow, from);
  if (context === undefined || context.trim() === "") return before;
  const document = withSection(parseTaskDocument(before.text), "Context", context);
  const fingerprint = document.byHeading.get("Context")?.fingerprint ?? "";
  const author = { role: "human", run: "", commit: "", fingerprint };
  return { text: bodyOf(document), authors: { ...before.authors, Context: author } };
}

const noDocument: StoredDocument = { text: "", authors: {} };

/**
 * The document of a task that is continued. What its agents wrote for a gate was about their own work: it is kept below one
 * heading, so that no verdict of the earlier task stands where the new task's agents must write theirs.
 */
async function continuedDocument(store: Store, { sections }: Workflow, { task }: StoredTask): Promise<StoredDocument> {
  const { text, authors } = await store.getDocument(task.id);
  const document = parseTaskDocument(text);
  const isEarlier = ({ heading }: Section) =>
    heading === earlierHeading || (sections.includes(heading) && authors[heading]?.role !== "human");
  const written = document.sections.filter((section) => isEarlier(section) && section.body !== "");
  if (written.length === 0) return { text, authors };
  const parts = written.map(({ heading, body }) => (heading === earlierHeading ? body : `### ${heading}\n\n${body}`));
  const kept = parseTaskDocument(
    [document.preamble, ...document.sections.filter((each) => !isEarlier(each)).map(({ source }) => source)].join(""),
  );
  const body = `What the agents of ${task.project}#${task.number} wrote.\n\n${parts.join("\n\n")}`;
  const remaining = Object.entries(authors).filter(([heading]) => kept.byHeading.has(heading));
  return { text: bodyOf(withSection(kept, earlierHeading, body)), authors: Object.fromEntries(remaining) };
}

const earlierHeading = "Earlier work";

async function firstFacts(core: Core, project: Project, document: StoredDocument): Promise<Facts> {
  return {
    document: parseTaskDocument(document.text),
    head: "",
    artifacts: {},
    numbers: { workspace: 0 },
    taskFileTracked: false,
    poolFull: await core.scheduler.isFull(project.name, ""),
  };
}

async function freeId({ ids, store }: Core): Promise<string> {
  for (;;) {
    const id = ids.task();
    if ((await store.getTask(id)) === undefined) return id;
  }
}
