import { routes } from "../../api/routes.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { count } from "../count.ts";
import { whosePause } from "../whose-pause.ts";
import { writeJson } from "../write-json.ts";

export interface PauseFlags {
  readonly project?: string;
  readonly all: boolean;
  readonly now: boolean;
  readonly json: boolean;
}

export async function pause(this: Context, flags: PauseFlags) {
  const call = createCall(this);
  const who = await whosePause(call, flags);
  const answer = await call(routes.pause, { body: { ...who, now: flags.now } });
  if (flags.json) return this.print(writeJson(answer));
  const name = who.project ?? "Everything";
  const again = who.project === undefined ? "--all" : `--project ${who.project}`;
  if (answer.ended > 0) this.say(`${count(answer.ended, "agent")} ended; later they go on in their sessions.`);
  else if (!flags.now) this.say("Agents that are at work go on. To end them too, add --now");
  if (answer.commands > 0) this.say(`${count(answer.commands, "command")} ended; later they are run again.`);
  for (const { run, problem } of answer.failed) {
    this.say(`${run} could not be ended: ${problem}`);
    this.say(`To try it again: signalbox agent kill ${run}`);
  }
  this.say(`${name} is paused: no agent and no command of a task is started. To go on: signalbox resume ${again}`);
}
