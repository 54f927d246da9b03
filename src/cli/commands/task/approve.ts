import { routes } from "../../../api/routes.ts";
import type { Context } from "../../context.ts";
import { forEach } from "../../for-each.ts";
import { given } from "../../given.ts";
import { nameTask } from "../../name-task.ts";
import { tellChange } from "../../tell-change.ts";
import { tellMerge } from "../../tell-merge.ts";

export interface ApproveFlags {
  readonly commit?: string;
  readonly json: boolean;
}

export function approve(this: Context, { commit, json }: ApproveFlags, ...references: readonly string[]) {
  return forEach(this, references, json, {
    act: async (_, call, reference) =>
      call(routes.approveTask, { ...(await nameTask(call, reference)), body: given({ commit }) }),
    isFailed: ({ merge }) => merge !== null && merge.state !== "merged",
    tell: (own, answer) => {
      if (answer.commit !== "") own.say(`Approved as it is at ${answer.commit.slice(0, 10)}.`);
      if (answer.change !== null) tellChange(own, answer.change);
      if (answer.merge !== null) tellMerge(own, answer.merge);
    },
  });
}
