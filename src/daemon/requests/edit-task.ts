import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { Refusal } from "../../api/client.ts";
import type { Routes } from "../../api/routes.ts";
import { parseTaskDocument } from "../../documents/task-document.ts";
import { publishFile } from "../../durable-file.ts";
import { endProblem } from "../../engine/child-workflows.ts";
import { edit, withSettings } from "../../engine/create.ts";
import type { Reason, TaskEvent } from "../../engine/decision.ts";
import { parseSetting } from "../../engine/language/read-settings.ts";
import { migrate, planMigration } from "../../engine/migrate.ts";
import type { Actor } from "../../engine/request.ts";
import type { SettingsEdit, Task, TaskEdit } from "../../engine/task.ts";
import { renderTaskDocument } from "../../engine/task-frontmatter.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Store, StoredTask } from "../../ports/store.ts";
import { shellWord } from "../../shell-quote.ts";
import { budgetIn } from "../agents/budgets.ts";
import { checkNeeds } from "../agents/harnesses.ts";
import { checkModels, unusedModel } from "../agents/models.ts";
import { actorFor, findTask } from "../authorise.ts";
import { publishAgents } from "../callers.ts";
import { chooseWorkflow } from "../choose-workflow.ts";
import type { Core } from "../core.ts";
import { readDependencies, refuseAwaited } from "../dependencies.ts";
import { haltTask } from "../halt-task.ts";
import type { Asked, Handler } from "../handlers.ts";
import { documentChanged, type Seen } from "../look.ts";
import { configFor } from "../make-task.ts";
import { allTasks, eventsOf, isShared, mustHave, projectOf, targetOf } from "../project.ts";
import { withConfiguredPreset } from "../project-models.ts";
import { writeDocument } from "../task-documents.ts";
import { leaveFamily, tasksBelow } from "../task-family.ts";
import { changeView, isoTime } from "../views.ts";
import { changeBranch } from "../workspaces/branch.ts";
import { leaveWorkspaces } from "../workspaces/free-workspaces.ts";
import { otherTaskWith } from "../workspaces/own-branches.ts";

export function getDocument(core: Core): Handler<Routes["getDocument"]> {
  return async (asked) => {
    const { task, updatedAt } = await findTask(core, asked);
    const { text, authors } = (await asWritten(core, task)).document;
    const artifacts = (await core.store.listArtifacts(task.id)).filter(({ document }) => document === undefined);
    return {
      text: renderTaskDocument({ ...task, updatedAt: isoTime(updatedAt) }, parseTaskDocument(text)),
      authors: Object.fromEntries(
        Object.entries(authors).map(([heading, { role, run, commit }]) => [heading, { role, run, commit }]),
      ),
      artifacts: artifacts.map(({ section, hash, role, run, commit, at }) => ({
        section,
        hash,
        role,
        run,
        commit,
        at: isoTime(at),
      })),
    };
  };
}

export function putDocument(core: Core): Handler<Routes["putDocument"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { task } = stored;
    // Authorised as an edit: the task's status does not change.
    const actor = await actorFor(core, stored, asked, (actor) => ({ kind: "edit", set: {}, actor }));
    const workflow = await core.workflows.get(task.workflowHash);
    // A mutex per task: concurrent writers keep each other's sections.
    return core.inTurn(task.id, async () => {
      // Sections that an agent has changed since stay the agent's, even if this text contains them.
      const { document: before, changes, head } = await asWritten(core, task);
      // A run's section is about the current commit; a person's section is valid for every commit.
      const commit = actor.run === undefined ? "" : head;
      const { document, changed, ignored } = writeDocument(workflow, before, asked.body.text, actor, commit);
      if (changed.length > 0 || document.text !== before.text) {
        const events = [...changes, documentChanged(actor, changed)];
        await core.store.saveDocument(task.id, document, events, core.clock.now());
        core.scheduler.wrote(task.id);
      }
      return { changed, ignored };
    });
  };
}

/** The document with the current contents of the agents' files, or as last saved if they cannot be read. */
async function asWritten(
  core: Core,
  task: Task,
): Promise<Pick<Seen, "document" | "changes"> & { readonly head: string }> {
  try {
    const { document, changes, facts } = await core.lookFor(task);
    return { document, changes, head: facts.head };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { document: await core.store.getDocument(task.id), changes: [], head: "" };
  }
}

export function editTask(core: Core): Handler<Routes["editTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { dependsOn, handDown, budget, ...others } = asked.body;
    const waits = { ...(dependsOn && { dependsOn }), ...(handDown && { handDown }) };
    const workflow = await core.workflows.get(stored.task.workflowHash);
    const { settings, ...rest } = await withConfiguredPreset(core, stored.task, workflow, others);
    const written: TaskEdit = {
      ...{ ...rest, ...waits },
      ...(budget === undefined ? {} : { budget: budgetIn(budget) }),
      ...(settings === undefined ? {} : { settings: readTexts(workflow, settings as SettingsEdit) }),
    };
    const actor = await actorFor(core, stored, asked, (actor) => ({ kind: "edit", set: written, actor }));
    await refuseEdit(core, stored, actor, written);
    // Only a person chooses dependencies: nothing is read of other tasks for anybody else.
    const isRead = actor.role === "human" && Object.keys(waits).length > 0;
    const read = isRead ? await readDependencies(core, waits, stored.task.project, stored.task) : {};
    const given: TaskEdit = { ...written, ...read };
    await checkChosen(core, stored, actor, given);
    const set = given.branch === undefined ? given : await withBranch(core, stored, actor, given, given.branch);
    return changeView(core, await core.submit(stored.task.id, { kind: "edit", set, actor }));
  };
}

/** Refuses what the caller may not change, before anything else is looked at for the request. */
async function refuseEdit(core: Core, { task }: StoredTask, actor: Actor, set: TaskEdit): Promise<void> {
  const { branch, ...others } = set;
  // An empty name stands for the branch that is checked out, which is looked up later.
  const checked = branch === "" ? others : set;
  const decision = edit(await core.workflows.get(task.workflowHash), task, actor, checked);
  if (decision.kind !== "rejected") return;
  await core.refusals.note(task, { kind: "edit", set, actor }, decision.reasons);
  throw new Refusal(decision.reasons);
}

/** Settings with the values that their texts stand for. */
function readTexts(workflow: Workflow, settings: SettingsEdit): SettingsEdit {
  const read = Object.entries(settings).map(([name, value]) => {
    const setting = Object.hasOwn(workflow.settings, name) ? workflow.settings[name] : undefined;
    return [name, setting !== undefined && typeof value === "string" ? parseSetting(setting, value) : value] as const;
  });
  return Object.fromEntries(read);
}

/** What the harness and the model of a task's agents follow from. */
const choices: readonly (keyof TaskEdit)[] = ["harness", "reviewHarness", "model", "preset", "settings"];

/** Refuses a harness in which the task's agents cannot be started, and a model that it does not have. */
async function checkChosen(core: Core, { task }: StoredTask, actor: Actor, given: TaskEdit): Promise<void> {
  if (!choices.some((name) => given[name] !== undefined) || core.agents === undefined) return;
  const wanted = { ...task, ...given, settings: withSettings(task.settings, given.settings ?? {}) };
  const workflow = await core.workflows.get(task.workflowHash);
  const { harnesses, config } = core.agents.ports;
  const { modelTiers } = configFor(core, await projectOf(core.store, task.project));
  const isOther = wanted.harness !== task.harness || wanted.reviewHarness !== task.reviewHarness;
  const reasons = [
    ...(isOther ? checkNeeds(harnesses, workflow, wanted, config()) : []),
    ...checkModels(harnesses, modelTiers.value, workflow, wanted),
    ...(given.model ? unusedModel([workflow]) : []),
  ];
  if (reasons.length === 0) return;
  await core.refusals.note(task, { kind: "edit", set: given, actor }, reasons);
  throw new Refusal(reasons);
}

/** Changes the branch in the task's workspace first, if it has one. An empty name means the branch checked out there. */
async function withBranch(
  core: Core,
  { task }: StoredTask,
  actor: Actor,
  given: TaskEdit,
  wanted: string,
): Promise<TaskEdit> {
  const { store, repositories } = core;
  const project = await projectOf(store, task.project);
  const workspaces = task.workspace === "" ? undefined : await repositories?.workspacesOf(project);
  const current = await workspaces?.kind.currentBranch(task.workspace);
  const branch = wanted === "" ? (current ?? "") : wanted;
  const set = { ...given, branch };
  // If the engine refuses the edit, submit records the refusal; git is not touched.
  const decision = edit(await core.workflows.get(task.workflowHash), task, actor, set);
  if (decision.kind === "rejected") return set;
  const reason = isShared(project, task, branch) ? goesInto(branch) : await whoHas(store, task, branch);
  if (reason !== undefined) {
    await core.refusals.note(task, { kind: "edit", set, actor }, [reason]);
    throw new Refusal([reason]);
  }
  if (workspaces !== undefined && branch !== current) {
    await core.inTurn(`branches ${project.name}`, () => changeBranch(workspaces, project, task.workspace, branch));
  }
  return set;
}

function goesInto(branch: string): Reason {
  const text = `${JSON.stringify(branch)} is the branch that work is merged into. A task needs its own branch.`;
  return { code: "bad-value", text, fix: "Choose another name." };
}

async function whoHas(store: Store, task: Task, branch: string): Promise<Reason | undefined> {
  const other = await otherTaskWith(store, task, branch);
  if (other === undefined) return undefined;
  const text = `${other.project}#${other.number} (${other.id}) is working on the branch ${JSON.stringify(branch)}.`;
  return { code: "bad-value", text, fix: "Choose another name, or continue that task." };
}

/** Everything known about a task, one JSON object per line: the task, its document, its records, then its events. */
async function* historyOf({ store }: Core, stored: StoredTask): AsyncGenerator<string> {
  const { id } = stored.task;
  const line = (kind: string, value: object) => `${JSON.stringify({ kind, ...value })}\n`;
  yield line("task", stored);
  yield line("document", await store.getDocument(id));
  for (const artifact of await store.listArtifacts(id)) yield line("artifact", artifact);
  for (const effect of await store.listEffects(id)) yield line("effect", effect);
  const { runs, messages, conversations, usage, merges, pullRequests } = store;
  for (const [kind, of] of Object.entries({ runs, messages, conversations, usage, merges, pullRequests })) {
    for (const each of await of.list({ task: id })) yield line(kind, each);
  }
  for await (const each of eventsOf(store, id))
    yield line("event", { ...each, event: { ...each.event, set: withNulls(each.event.set) } });
}

/** JSON has no `undefined`: null marks a removed field, so that the history can be replayed from the file. */
function withNulls(set: TaskEvent["set"]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(set).map(([key, value]) => [key, value ?? null]));
}

export function exportTask(core: Core) {
  return async (asked: Asked<{ readonly project?: string }, unknown>, response: ServerResponse): Promise<undefined> => {
    const stored = await findTask(core, asked);
    response.writeHead(200, { "content-type": "application/jsonl", "x-content-type-options": "nosniff" });
    for await (const line of historyOf(core, stored)) {
      if (!response.write(line)) await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
      if (response.destroyed) return undefined;
    }
    response.end();
    return undefined;
  };
}

/** Deletes an ended task with the parts of its plans, after exporting everything known about each to a file. */
export function deleteTask(core: Core): Handler<Routes["deleteTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    if (stored.isOpen && !(await canBeForgotten(core, stored.task))) throw await inUse(core, stored.task);
    await checkFamily(core, stored.task);
    const parts = await partsBelow(core, stored.task.id);
    const ids = new Set([stored, ...parts].map(({ task }) => task.id));
    await refuseAwaited(core, (task) => ids.has(task.id));
    const notes: string[] = [];
    for (const part of parts) {
      const { unmerged } = await forget(core, part);
      if (unmerged !== "") notes.push(`${part.task.id}: ${unmerged}`);
    }
    const { kept, left, unmerged } = await forget(core, stored);
    core.agents?.dispatch.wake();
    await publishAgents(core);
    const all = [...notes, ...(unmerged === "" ? [] : [unmerged])].join("\n");
    return { kept, left, unmerged: all, parts: parts.map(({ task }) => task.id) };
  };
}

/** The parts of a task's plans, and theirs, the lowest first. All must have ended. */
async function partsBelow(core: Core, parent: string): Promise<readonly StoredTask[]> {
  const found: StoredTask[] = [];
  for (const stored of await allTasks(core.store, { parent })) {
    if (stored.task.part === undefined) continue;
    await checkFamily(core, { ...stored.task, part: undefined });
    found.push(...(await partsBelow(core, stored.task.id)), stored);
  }
  return found;
}

async function forget(core: Core, stored: StoredTask) {
  const { id, project, number } = stored.task;
  const { pools, store } = core;
  let text = "";
  for await (const line of historyOf(core, stored)) text += line;
  makePrivateFolder(core.places.trash);
  const kept = join(core.places.trash, `${project}-${number}-${id}.jsonl`);
  publishFile(kept, text, { mode: 0o600 });
  // Release the workspaces first: deleting the task also deletes the record of its folders.
  const left = await haltTask(core, id, async () => (pools === undefined ? [] : leaveWorkspaces(pools, id)));
  const unmerged = await unmergedWork(core, stored.task);
  await leaveFamily(core, stored);
  await store.deleteTask(id);
  core.scheduler.forgot(id);
  core.deadlines.forgot(id);
  core.needs.noticed(id);
  core.log.info("A task was deleted", { task: id, kept, left, unmerged });
  return { kept, left, unmerged };
}

/** The commits of a task that its target lacks, and the command that brings them back; empty where there are none. */
async function unmergedWork({ repositories, store }: Core, task: Task): Promise<string> {
  const project = await store.getProject(task.project);
  if (repositories === undefined || project === undefined) return "";
  const target = targetOf(project, task);
  const ref = taskRef(task.id);
  try {
    const { control } = await repositories.workspacesOf(project);
    const { branches } = await control.syncFrom({ from: project.path, name: "user" });
    const [tip, here] = [branches[target], branches[task.branch]];
    const commit = await control.commitAt(ref);
    const count = commit === undefined || tip === undefined ? 0 : await control.countCommits(tip, commit);
    if (commit === undefined || count === 0) return "";
    const commits = count === 1 ? "1 commit of it is" : `${count} commits of it are`;
    const said = `${commits} not in "${target}"`;
    if (here !== undefined && (await control.isAncestor(commit, here)))
      return `${said}, and ${count === 1 ? "stays" : "stay"} in your branch "${task.branch}".`;
    const branch = here === undefined ? task.branch : `${task.branch}-${task.id}`;
    const fetch = ["git", "-C", project.path, "fetch", control.folder, `${ref}:refs/heads/${branch}`];
    return `${said}. To get ${count === 1 ? "it" : "them"} back as a branch: ${fetch.map(shellWord).join(" ")}`;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return `Whether all of its work is in "${target}" is not known: ${error.message} Its commits are kept at ${ref}.`;
  }
}

/** A parent counts its parts, and needs them to say what became of its plan; parts need their parent's branch. */
async function checkFamily(
  { store }: Core,
  { id, part, parent }: Pick<Task, "id" | "parent"> & { readonly part?: Task["part"] | undefined },
): Promise<void> {
  const open = (await tasksBelow(store, id)).filter(({ isOpen }) => isOpen).map(({ task }) => task.id);
  if (open.length > 0)
    throw new Fault("task.in-use", `The task ${id} has tasks below it that have not ended: ${open.join(", ")}.`, {
      hint: `Cancel them first: signalbox task cancel ${open.join(" ")}`,
    });
  if (part === undefined || (await store.getTask(parent))?.isOpen !== true) return;
  throw new Fault("task.in-use", `The task ${id} is a part of ${parent}, which has not ended.`, {
    hint: `Delete it when ${parent} has ended, or cancel that first: signalbox task cancel ${parent}`,
  });
}

async function inUse({ workflows, store }: Core, { id, status, workflowHash }: Task): Promise<Fault> {
  const { states } = await workflows.get(workflowHash);
  if (states[status]?.terminal !== true)
    return new Fault("task.in-use", `The task ${id} is in "${status}" and has not ended.`, {
      hint: `Cancel it first: signalbox task cancel ${id}`,
    });
  const owed = (await store.openEffects(id)).map(({ effect }) => effect.action);
  const rest = owed.length > 0 ? `: ${owed.join(", ")}` : "";
  const text = `The task ${id} has ended in "${status}". Its last effects are still being carried out${rest}.`;
  return new Fault("task.in-use", text, {
    hint: `See what the task waits for: signalbox task explain ${id}`,
    retry: "later",
  });
}

/**
 * Whether an open task may be deleted: it is in a terminal state but its last effects fail, or its workflow is lost. Such
 * a task can be neither cancelled nor continued.
 */
export async function canBeForgotten({ workflows }: Core, task: Task): Promise<boolean> {
  try {
    const { states } = await workflows.get(task.workflowHash);
    return states[task.status]?.terminal === true && task.held !== undefined;
  } catch (error) {
    if (error instanceof Fault && error.code.startsWith("workflow.")) return true;
    throw error;
  }
}

/** Shows what another version of the task's workflow would change; with `apply`, pins the task to it. */
export function migrateTask(core: Core): Handler<Routes["migrateTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { task } = stored;
    const project = await mustHave(core, task.project);
    const chosen = await chooseWorkflow(core, project, asked.body.workflow ?? task.workflow);
    const before = await core.workflows.get(task.workflowHash);
    const plan = { ...planMigration(before, chosen.workflow, task), from: before.hash, to: chosen.workflow.hash };
    const endless = task.part && endProblem(chosen.workflow, chosen.found.name);
    if (endless !== undefined)
      throw new Fault("workflow.invalid", endless.message, {
        hint: `${endless.fix}\nThen: signalbox task migrate ${task.id}`,
      });
    if (asked.body.apply !== true) return { plan, change: null };
    if ((await core.store.openEffects(task.id)).length > 0) {
      throw new Fault("task.conflict", `The task ${task.id} still has effects to carry out.`, {
        hint: `Wait for them, or list them: signalbox task explain ${task.id}`,
      });
    }
    const decision = migrate(before, chosen.workflow, task, { role: "human" }, await core.factsOf(task), asked.body.to);
    if (decision.kind === "rejected") throw new Refusal(decision.reasons);
    if (decision.kind === "ignored") return { plan, change: null };
    await core.workflows.keep(chosen.workflow, chosen.text);
    const saved = await core.store.saveDecision({
      task: { ...decision.task, workflow: chosen.found.name },
      revision: stored.revision,
      isOpen: decision.task.phase !== "over",
      events: decision.events.map((event) => ({ ...event, set: { ...event.set, workflow: chosen.found.name } })),
      effects: decision.effects,
      at: core.clock.now(),
    });
    core.changed(saved);
    return { plan, change: await changeView(core, { decision, stored: saved, from: task.status }) };
  };
}
