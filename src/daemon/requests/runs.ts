import { realpath } from "node:fs/promises";
import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import type { RunEnd } from "../../engine/request.ts";
import { Fault } from "../../fault.ts";
import { publishAgents } from "../agents-at-work.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import type { Answer } from "../submit.ts";
import { isoTime } from "../views.ts";
import { findTask } from "./find-task.ts";
import { changeView } from "./move-task.ts";

const defaultLifetime = 24 * 3600;

/** The run must be one the task has: who speaks for a role is the workflow's decision, not the one who registers. */
export function registerRun(core: Core): Handler<Routes["registerRun"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    const { role, folder = "", pid = 0, lifetime = defaultLifetime } = asked.body;
    const run = task.runs[role];
    if (run === undefined) {
      const live = Object.keys(task.runs);
      throw new Refusal([
        {
          code: "run-over",
          text: `The task has no live run of ${role} in "${task.status}".`,
          fix: live.length > 0 ? `It has ${live.join(", ")}.` : "No agent is at work in this state.",
        },
      ]);
    }
    const at = core.clock.now();
    const { id, project } = task;
    const place = folder === "" ? "" : await realFolder(folder);
    const known = await core.store.runs.get(`${id}/${run.key}`);
    await core.store.runs.put({
      id: `${id}/${run.key}`,
      project,
      task: id,
      at: known?.at ?? at,
      key: run.key,
      role,
      harness: task.harness,
      model: task.model,
      session: known?.session ?? "",
      folder: place,
      pid,
      endedAt: undefined,
      word: "",
    });
    if (place !== "")
      await core.store.workspaces.put({ id: place, project, task: id, at, path: place, kind: "folder" });
    await publishAgents(core);
    const expiresAt = at + lifetime * 1000;
    const credential = { project, task: id, at, role, run: run.key, expiresAt };
    const token = await core.callers.issue(credential, core.ids.secret());
    core.log.info("A run was registered", { task: id, run: run.key });
    return { run: run.key, role, token, expiresAt: isoTime(expiresAt) };
  };
}

export function endRun(core: Core): Handler<Routes["endRun"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    const { run = "" } = asked.params;
    const { word, reason } = asked.body;
    return changeView(core, await reportEnd(core, task.id, run, word, reason));
  };
}

/** A run has ended: what it shows is not believed any more, and the engine is told. */
export async function reportEnd(core: Core, task: string, run: string, word: RunEnd, reason?: string): Promise<Answer> {
  const known = await core.store.runs.get(`${task}/${run}`);
  await core.callers.revoke(task, run);
  if (known !== undefined) await core.store.runs.put({ ...known, endedAt: core.clock.now(), word });
  await publishAgents(core);
  return core.submit(task, { kind: "ended", run, word, ...(reason === undefined ? {} : { reason }) });
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (error) {
    throw new Fault("run.invalid", `There is no folder ${folder}.`, { cause: error });
  }
}
