import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { findProject } from "../../find-project.ts";
import { given } from "../../given.ts";
import { wholeNumber } from "../../parameters.ts";
import { writeJson } from "../../write-json.ts";

export interface SpawnFlags {
  readonly project?: string;
  readonly harness?: string;
  readonly model?: string;
  readonly json: boolean;
}

const most = 100;

export async function spawn(this: Context, flags: SpawnFlags, words = "1") {
  const call = createCall(this);
  const { name: project } = await findProject(call, flags.project);
  const { harness, model } = flags;
  const who = /^\d+$/.test(words) ? { count: readCount(words) } : { name: words };
  const answer = await call(routes.addAgents, { body: { project, ...who, ...given({ harness, model }) } });
  if (flags.json) return this.print(writeJson(answer));
  for (const { name } of answer.agents) this.print(name);
  const [first] = answer.agents;
  this.say(`To give it a task: signalbox agent assign ${first?.name} TASK`);
}

function readCount(words: string): number {
  return wholeNumber(1, most)(words);
}
