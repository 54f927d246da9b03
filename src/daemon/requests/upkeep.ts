import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { openApi } from "../../api/openapi.ts";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { backupFile } from "../../home/backups.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { callSettings } from "../../home/notify-fields.ts";
import { trust as remember } from "../../home/trust.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { isoTime } from "../views.ts";
import { findText, loadFound } from "./choose-workflow.ts";
import { mustHave } from "./projects.ts";

export function status(core: Core): Handler<Routes["status"]> {
  return async () => ({
    version: core.version,
    pid: process.pid,
    home: core.home,
    startedAt: isoTime(core.startedAt),
    address: core.address(),
    tasks: await core.needs.counts(),
    projects: (await core.store.listProjects()).length,
    storeProblem: core.storeLoss()?.message ?? "",
    savingProblem: savingProblem(core),
    terminalProblem: core.agents?.terminalTrouble() ?? { reason: "", fix: "" },
    configProblems: core.config().problems,
    agents: agentCounts(core),
    paused: core.agents?.pauses.list() ?? { all: false, projects: [] },
    calls: { channels: await channelsOf(core), quiet: callSettings(core.config().values).quiet },
  });
}

function savingProblem(core: Core) {
  const { message: reason = "", hint: fix = "" } = core.unsaved() ?? {};
  return { reason, fix };
}

function agentCounts({ agents }: Core) {
  if (agents === undefined) return { atWork: 0, idle: 0, waiting: 0, needPerson: 0 };
  // Of one that has ended without anybody being able to note it, nothing is at work.
  const over = agents.watches().filter(({ isOver }) => isOver);
  const watches = agents.watches().filter(({ isOver }) => !isOver);
  return {
    atWork: agents.dispatch.atWork() - over.filter(({ run }) => agents.dispatch.isSeated(run.id)).length,
    idle: watches.filter(({ run }) => !agents.dispatch.isSeated(run.id)).length,
    waiting: agents.dispatch.waiting().length,
    needPerson: watches.filter(({ started }) => started.raised !== "").length,
  };
}

async function channelsOf({ channels, calls, store }: Core) {
  const problems = new Map(calls.problems().map(({ channel, problem }) => [channel, problem]));
  const undelivered = calls.undelivered();
  const nameOf = async (id: string) => {
    const { project, number } = (await store.getTask(id))?.task ?? {};
    return project === undefined ? id : `${project}#${number}`;
  };
  const all = [...channels().keys()].map(async (name) => ({
    ...{ name, problem: problems.get(name) ?? "" },
    undelivered: await Promise.all((undelivered.get(name) ?? []).map(nameOf)),
  }));
  return Promise.all(all);
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

/** Backups lie in a folder of the home, unless somebody names another place. */
export function backup(core: Core): Handler<Routes["backup"]> {
  return async ({ body, folder }) => {
    if (body.path === undefined) makePrivateFolder(core.places.backups);
    const path =
      body.path === undefined ? backupFile(core.places, core.clock.now(), "asked") : resolve(folder || "/", body.path);
    if (existsSync(path)) {
      throw new Fault("backup.exists", `${path} is there already.`, { hint: "Name another file, or none." });
    }
    const place = dirname(path);
    if (!existsSync(place)) {
      throw new Fault("backup.no-folder", `There is no folder ${place}.`, { hint: "Make it first, or name another." });
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
      if (before === undefined) return { damage, stuck };
    }
  };
}

const limit = 500;

export function trust(core: Core): Handler<Routes["trust"]> {
  return async ({ body }) => {
    const project = await mustHave(core, body.project);
    const file = await findText(core, project, body.workflow);
    // Nobody means to trust what cannot run.
    const { hash } = loadFound(core, project, file);
    const { found } = file;
    remember(core.places, hash, `${project.name} ${found.file} ${isoTime(core.clock.now())}`);
    core.log.info("A workflow was trusted", { file: found.file, hash });
    return { hash, file: found.file };
  };
}
