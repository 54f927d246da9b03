import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { listed } from "../count.ts";
import { whosePause } from "../whose-pause.ts";
import { writeJson } from "../write-json.ts";

export interface ResumeFlags {
  readonly project?: string;
  readonly all: boolean;
  readonly harness?: string;
  readonly json: boolean;
}

export async function resume(this: Context, flags: ResumeFlags) {
  const call = createCall(this);
  const { harness } = flags;
  if (harness !== undefined) {
    if (flags.all || flags.project !== undefined)
      throw new Fault("usage", "--harness cannot be given with --project or --all.", {
        hint: "Leave one of them out.",
      });
    const answer = await call(routes.resume, { body: { harness } });
    if (flags.json) return this.print(writeJson(answer));
    return this.say(
      `The limit of ${harness} is forgotten: its agents go on. To see who is at work: signalbox agent ps`,
    );
  }
  const who = await whosePause(call, flags);
  const answer = await call(routes.resume, { body: who });
  if (flags.json) return this.print(writeJson(answer));
  if (answer.all) return this.say("Everything is still paused. To go on: signalbox resume --all");
  this.say(`${who.project ?? "Everything"} goes on. To see who is at work: signalbox agent ps`);
  if (answer.projects.length > 0) this.say(`Still paused: ${listed(answer.projects)}.`);
}
