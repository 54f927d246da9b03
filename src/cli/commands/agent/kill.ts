import type { RunView } from "../../../api/agent-wires.ts";
import type { Call } from "../../../api/client.ts";
import { routes } from "../../../api/routes.ts";
import { Fault } from "../../../fault.ts";
import { shownRun } from "../../agent-table.ts";
import { confirm } from "../../confirm.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { listed } from "../../count.ts";
import { projectHere } from "../../find-project.ts";
import { tellChange } from "../../tell-change.ts";
import { writeJson } from "../../write-json.ts";

export interface KillFlags {
  readonly yes: boolean;
  readonly json: boolean;
}

export async function kill(this: Context, { yes, json }: KillFlags, reference: string) {
  const call = createCall(this);
  const run = await findRun(call, reference);
  const name = shownRun(run);
  if (process.stdin.isTTY && !(await confirm(this, `End ${name}, which is ${run.activity}?`, yes))) return;
  const change = await call(routes.killRun, { params: { task: run.task, run: run.key }, query: {}, body: {} });
  if (json) return this.print(writeJson(change));
  this.say(`${name} is ended.`);
  tellChange(this, change);
}

/** By its name for people, its id, or the named agent that makes it; of the ended ones only to say that they are. */
async function findRun(call: Call, reference: string): Promise<RunView> {
  const { runs } = await call(routes.listRuns, { query: {} });
  const exact = runs.filter((run) => namesOf(run).includes(reference));
  const found = exact.length > 0 ? exact : await namedHere(call, runs, reference);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined)
    throw new Fault("usage", `${reference} can be ${listed(found.map(shownRun), "or")}.`, {
      hint: `Name one of them, such as: signalbox agent kill ${shownRun(only)}`,
    });
  const { runs: all } = await call(routes.listRuns, { query: { all: "true" } });
  const ended = all.find((run) => [shownRun(run), run.id].includes(reference));
  if (ended !== undefined)
    throw new Fault("run.over", `${reference} has ended already (${ended.word}).`, {
      hint: "See who is at work: signalbox agent ps",
    });
  throw new Fault("run.missing", `No agent "${reference}" is at work.`, {
    hint: "See who is, with their names: signalbox agent ps",
  });
}

function namesOf(run: RunView): readonly string[] {
  const { id, agent, project } = run;
  return [shownRun(run), id, ...(agent === "" ? [] : [`${project}/${agent}`])];
}

/** An agent's name by itself is one of this folder's project: others may have an A as well. */
async function namedHere(call: Call, runs: readonly RunView[], name: string): Promise<readonly RunView[]> {
  const called = runs.filter(({ agent }) => agent === name);
  const [first] = called;
  if (first === undefined) return [];
  const here = await projectHere(call);
  const own = called.filter(({ project }) => project === here?.name);
  if (own.length > 0) return own;
  const names = [...new Set(called.map(({ project }) => `${project}/${name}`))];
  throw new Fault("usage", `This folder is in no project with an agent "${name}" at work.`, {
    hint: `If you mean ${listed(names, "or")}, say: signalbox agent kill ${names[0]}`,
  });
}
