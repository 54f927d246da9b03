import { routes } from "../../../api/routes.ts";
import { Fault } from "../../../fault.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { findProject } from "../../find-project.ts";
import { given } from "../../given.ts";
import { writeJson } from "../../write-json.ts";

export interface SpawnFlags {
  readonly project?: string;
  readonly harness?: string;
  readonly model?: string;
  readonly json: boolean;
}

const most = 100;

export function spawn(this: Context, flags: SpawnFlags, words = "1") {
  return makeAgents(this, flags, words, (name) => `To give it a task: signalbox agent assign ${name} TASK`);
}

export function spawnCrew(this: Context, flags: SpawnFlags, words = "1") {
  return makeAgents(this, flags, words, () => "To let them work off tickets: signalbox crew run");
}

async function makeAgents(context: Context, flags: SpawnFlags, words: string, hint: (first: string) => string) {
  const call = createCall(context);
  const { name: project } = await findProject(call, flags.project);
  const { harness, model } = flags;
  const who = /^\d+$/.test(words) ? { count: readCount(words) } : { name: words };
  const answer = await call(routes.addAgents, { body: { project, ...who, ...given({ harness, model }) } });
  if (flags.json) return context.print(writeJson(answer));
  for (const { name } of answer.agents) context.print(name);
  context.say(hint(answer.agents[0]?.name ?? ""));
}

function readCount(words: string): number {
  const count = Number(words);
  if (count >= 1 && count <= most) return count;
  throw new Fault("usage", `From 1 to ${most} agents can be made at once, not ${words}.`, {
    hint: "A name begins with a letter.",
  });
}
