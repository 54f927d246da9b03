import { realpath } from "node:fs/promises";
import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { reportEnd } from "../agents/report-end.ts";
import { publishAgents } from "../agents-at-work.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
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
    const end = reason === undefined ? { word } : { word, reason };
    return changeView(core, await reportEnd(core, task.id, run, end));
  };
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (error) {
    throw new Fault("run.invalid", `There is no folder ${folder}.`, { cause: error });
  }
}
