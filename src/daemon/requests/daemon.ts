import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { openApi } from "../../api/openapi.ts";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { backupFile } from "../../home/backups.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { callSettings } from "../../home/notify-fields.ts";
import { trust as remember } from "../../home/trust.ts";
import type { Run } from "../../ports/records.ts";
import { oneLine } from "../../text.ts";
import type { Agents } from "../agents/agents.ts";
import { harnessNamed } from "../agents/harnesses.ts";
import { claimOf } from "../authorise.ts";
import { findText, loadFound } from "../choose-workflow.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { noteOfHome } from "../home-events.ts";
import type { Entry } from "../merging/merge-queue.ts";
import { movedBranchTrouble, targetTrouble } from "../moved-target.ts";
import { mustHave } from "../project.ts";
import { isoTime } from "../views.ts";
import { userBranches } from "../workspaces/own-branches.ts";
import { unsavedWorkspaces } from "../workspaces/unsaved-workspaces.ts";
import { agentsOf } from "./tasks.ts";

export function pause(core: Core): Handler<Routes["pause"]> {
  return async ({ body, caller }) => {
    const agents = agentsOf(core);
    const project = await scopeOf(core, body);
    // The pause is in force from now on. Even if it cannot be saved, the programs are ended.
    const saveError = errorOf(() => agents.pauses.set(project, true, body.now === true));
    const merges = await Promise.all(unstopped(core, project).map((each) => namedMerge(core, each)));
    const scope = project === "" ? {} : { project };
    const noted = noteOfHome(core, caller, { type: "pause.began", data: { ...scope, now: body.now === true } });
    // A run that is asleep has no program, and resumes only when it gets a seat.
    const matches = ({ project: of, started }: Run) =>
      (project === "" || of === project) && started?.asleepSince === undefined;
    const runs = body.now === true ? await agents.brake.runsOf(matches) : [];
    // Lost, so that it counts as no failure of the agent: each run resumes its session after the pause.
    const end = { word: "lost", reason: "A person has paused everything." } as const;
    const killing = body.now === true ? core.commands.killPaused() : 0;
    const results = await Promise.all(runs.map(async (run) => ({ run, ended: await agents.end(run, end) })));
    const failed = results.flatMap(({ run, ended }) =>
      ended.kind === "alive" ? [{ run: run.id, problem: ended.problem }] : [],
    );
    const ended = results.length - failed.length;
    const commands = await killing;
    await noted;
    core.log.info("Paused", { project: project || "all", ended, commands, failed: failed.length });
    if (saveError !== undefined) throw saveError;
    return { ...agents.pauses.list(), ended, commands, failed, merges };
  };
}

/** Why a pause does not stop a merge: it is being published, or a person has requested it with `task merge`. */
type Unstopped = Pick<Entry, "task" | "project" | "target"> & { readonly why: "publishing" | "person" };

function unstopped({ repositories }: Core, scope: string): readonly Unstopped[] {
  if (repositories === undefined) return [];
  const { merging } = repositories;
  return merging.queued().flatMap(({ entry: { task, project, target, pausable } }) => {
    const isPublished = merging.isInPublication(task);
    if ((scope !== "" && project !== scope) || (!isPublished && pausable !== undefined)) return [];
    return [{ task, project, target, why: isPublished ? "publishing" : "person" }];
  });
}

async function namedMerge({ store }: Core, merge: Unstopped) {
  return { ...merge, number: (await store.getTask(merge.task))?.task.number ?? 0 };
}

function errorOf(write: () => void): unknown {
  try {
    write();
    return undefined;
  } catch (error) {
    return error;
  }
}

export function resume(core: Core): Handler<Routes["resume"]> {
  return async ({ body, caller }) => {
    const agents = agentsOf(core);
    if (body.harness !== undefined) {
      liftLimit(core, agents, body.harness);
      return { ...agents.pauses.list(), ended: 0, commands: 0, failed: [], merges: [] };
    }
    const project = await scopeOf(core, body);
    agents.pauses.set(project, false);
    await noteOfHome(core, caller, { type: "pause.ended", data: project === "" ? {} : { project } });
    agents.dispatch.wake();
    core.scheduler.wake();
    core.commands.resumed();
    core.repositories?.merging.resumed();
    core.performer.resumed();
    core.log.info("Resumed", { project: project || "all" });
    return { ...agents.pauses.list(), ended: 0, commands: 0, failed: [], merges: [] };
  };
}

/** A person lifts the limit that a provider has reported. */
function liftLimit(core: Core, { ports, dispatch, watches }: Agents, name: string): void {
  const { title } = harnessNamed(ports.harnesses, name);
  if (!dispatch.lift(name))
    throw new Fault("harness.unlimited", `${title} has no known limit: its agents are started.`, {
      hint: "See what a task waits for: signalbox task explain TASK",
    });
  for (const { run } of watches()) if (run.harness === name) core.needs.noticed(run.task);
  core.log.info("A provider's limit was lifted by a person", { harness: name });
}

async function scopeOf(core: Core, { project, all }: { project?: string; all?: boolean }): Promise<string> {
  if (all === true) return "";
  if (project !== undefined) return (await mustHave(core, project)).name;
  throw new Fault("usage", "Name a project, or give --all.");
}

/** The request is in history, and so is the change itself once the daemon has noticed it. */
export function announceConfig(core: Core): Handler<Routes["announceConfig"]> {
  return async ({ body, caller }) => {
    core.configChanges.announce(body.hash, claimOf(caller).role);
    return {};
  };
}

export function health(core: Core): Handler<Routes["health"]> {
  return async () => ({ version: core.version, pid: process.pid });
}

export function status(core: Core): Handler<Routes["status"]> {
  return async () => ({
    version: core.version,
    pid: process.pid,
    home: core.home,
    startedAt: isoTime(core.startedAt),
    address: core.webDoor.address(),
    tasks: await core.needs.counts(),
    projects: (await core.store.listProjects()).length,
    storeProblem: core.storeLoss()?.message ?? "",
    savingProblem: savingProblem(core),
    terminalProblem: core.agents?.terminalTrouble() ?? { reason: "", fix: "" },
    refused: core.refusals.strangers(),
    configProblems: core.config().problems,
    agents: agentCounts(core),
    budgets: [...(await dayBudgets(core)), ...holdingBudgets(core)],
    paused: core.agents?.pauses.list() ?? { all: false, projects: [] },
    calls: { channels: await channelsOf(core), quiet: callSettings(core.config().values).quiet },
  });
}

function savingProblem(core: Core) {
  const { message: reason = "", hint: fix = "" } = core.unsaved() ?? {};
  return { reason, fix };
}

/** The budgets of the day that are used up: until they are raised, or the day is over, no run starts. */
async function dayBudgets({ agents, store, clock }: Core) {
  const projects = (await store.listProjects()).map(({ name }) => name);
  const spent = agents?.book.spentToday(projects, clock.now()) ?? [];
  return spent.map(({ text, fix }) => ({ reason: text, fix }));
}

/** One for each task whose budget holds runs up: the others wait for the same. */
function holdingBudgets({ agents }: Core) {
  const blocks = agents?.dispatch.waiting().flatMap(({ run }) => agents.dispatch.blockOf(run) ?? []) ?? [];
  const first = new Map(blocks.toReversed().map((block) => [block.owner, block]));
  return [...first.values()].map(({ text, fix }) => ({ reason: text, fix }));
}

function agentCounts({ agents }: Core) {
  if (agents === undefined) return { atWork: 0, idle: 0, waiting: 0, needPerson: 0 };
  // Runs that have ended but whose end could not be saved yet do not count as at work.
  const over = agents.watches().filter(({ isOver }) => isOver);
  const watches = agents.watches().filter(({ isOver }) => !isOver);
  return {
    atWork: agents.dispatch.atWork() - over.filter(({ run }) => agents.dispatch.isSeated(run.id)).length,
    idle: watches.filter(({ run }) => !agents.dispatch.isSeated(run.id)).length,
    waiting: agents.dispatch.waiting().length,
    needPerson: watches.filter(({ started }) => started.raised !== "").length,
  };
}

async function channelsOf(core: Core) {
  const { channels, calls, store, chats, receiver } = core;
  const problems = new Map(calls.problems().map(({ channel, problem }) => [channel, problem]));
  const missed = calls.undelivered();
  const nameOf = async (id: string) => {
    const { project, number } = (await store.getTask(id))?.task ?? {};
    return project === undefined ? id : `${project}#${number}`;
  };
  const all = [...channels().keys()].map(async (name) => ({
    ...{ name, problem: problems.get(name) ?? "" },
    undelivered: await Promise.all((missed.get(name) ?? []).map(nameOf)),
    strangers: 0,
  }));
  if (!hasChat(core)) return Promise.all(all);
  const undelivered = await Promise.all(chats.undelivered().map(nameOf));
  const telegram = { name: "telegram", problem: chats.problem(), undelivered, strangers: receiver.strangers() };
  return [...(await Promise.all(all)), telegram];
}

function hasChat({ config }: Core): boolean {
  return (config().values.chatTelegramChats ?? []).length > 0;
}

export function openapi(core: Core): Handler<Routes["openapi"]> {
  let document: ReturnType<typeof openApi> | undefined;
  return async () => {
    document ??= openApi(core.version);
    return document;
  };
}

export function stop(core: Core): Handler<Routes["stop"]> {
  return async () => {
    core.stop();
    return {};
  };
}

/** Backups are written to a folder of the home, unless the caller names another file. */
export function backup(core: Core): Handler<Routes["backup"]> {
  return async ({ body, folder }) => {
    if (body.path === undefined) makePrivateFolder(core.places.backups);
    const path =
      body.path === undefined ? backupFile(core.places, core.clock.now(), "asked") : resolve(folder || "/", body.path);
    if (existsSync(path)) {
      throw new Fault("backup.exists", `${path} already exists.`, { hint: "Name another file, or none." });
    }
    const place = dirname(path);
    if (!existsSync(place)) {
      throw new Fault("backup.no-folder", `There is no folder ${place}.`, {
        hint: "Create it first, or name another.",
      });
    }
    await core.store.backup(path);
    core.log.info("The store was copied", { path });
    return { path };
  };
}

export function check(core: Core): Handler<Routes["check"]> {
  return async () => {
    const damage = await core.store.check();
    const stuck: { task: string; action: string; reason: string }[] = [];
    for (let before: number | undefined; ; ) {
      const page = await core.store.listTasks({ isOpen: true }, before === undefined ? { limit } : { before, limit });
      for (const { task } of page) {
        const failed = (await core.store.openEffects(task.id)).filter((each) => each.state === "failed");
        for (const { effect, failure } of failed)
          stuck.push({ task: task.id, action: effect.action, reason: failure?.reason ?? "" });
      }
      before = page.at(-1)?.order;
      if (before !== undefined) continue;
      const unsaved = (await unsavedWorkspaces(core.store)).map(({ task: _, ...each }) => each);
      return { damage, stuck, branches: await branchTroubles(core), unsaved };
    }
  };
}

/** What is wrong with the branches of projects. A missing repository is reported by another check. */
async function branchTroubles({ git, store, places, repositories }: Core) {
  const found: { project: string; reason: string; fix: string; isNote?: boolean }[] = [];
  if (git === undefined) return found;
  for (const project of await store.listProjects()) {
    const own = { git, folder: join(places.workspaces, project.name) };
    const trouble = await targetTrouble(own, project, project.defaultBranch, store);
    if (trouble !== undefined) found.push({ project: project.name, ...trouble });
    // A repository that cannot be read is reported by another check.
    for (const { name, reason, fix } of await git.brokenBranches(project.path).catch(() => []))
      found.push({
        project: project.name,
        reason: `The branch "${oneLine(name, 100)}" is broken: ${reason}. Signalbox passes over it.`,
        fix: `Remove or restore it: ${fix}`,
      });
    // The user may have put a branch back meanwhile.
    if (project.movedBranches?.length && repositories !== undefined)
      await repositories
        .workspacesOf(project)
        .then(({ control }) => userBranches(control, project))
        .catch((error) => error);
    const { movedBranches = [] } = (await store.getProject(project.name)) ?? {};
    // The default branch is in both if a checkout of the user's has it.
    const others = movedBranches.filter(({ branch }) => trouble === undefined || branch !== project.defaultBranch);
    for (const moved of others)
      found.push({ project: project.name, ...movedBranchTrouble(project, moved), isNote: !moved.blocks });
  }
  return found;
}

const limit = 500;

export function trust(core: Core): Handler<Routes["trust"]> {
  return async ({ body }) => {
    const project = await mustHave(core, body.project);
    const file = await findText(core, project, body.workflow);
    // Loading the workflow first refuses one that is invalid.
    const { hash } = loadFound(core, project, file);
    const { found } = file;
    remember(core.places, hash, `${project.name} ${found.file} ${isoTime(core.clock.now())}`);
    core.log.info("A workflow was trusted", { file: found.file, hash });
    return { hash, file: found.file };
  };
}
