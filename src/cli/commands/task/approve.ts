import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { exitCodes } from "../../exit-code.ts";
import { given } from "../../given.ts";
import { nameTask } from "../../name-task.ts";
import { tellChange } from "../../tell-change.ts";
import { tellMerge } from "../../tell-merge.ts";
import { writeJson } from "../../write-json.ts";

export interface ApproveFlags {
  readonly commit?: string;
  readonly json: boolean;
}

export async function approve(this: Context, { commit, json }: ApproveFlags, reference: string) {
  const call = createCall(this);
  const answer = await call(routes.approveTask, { ...(await nameTask(call, reference)), body: given({ commit }) });
  const { change, merge } = answer;
  if (merge !== null && merge.state !== "merged") this.process.exitCode = exitCodes.failed;
  if (json) return this.print(writeJson(answer));
  if (answer.commit !== "") this.say(`Approved as it is at ${answer.commit.slice(0, 10)}.`);
  if (change !== null) tellChange(this, change);
  if (merge !== null) tellMerge(this, merge);
}
