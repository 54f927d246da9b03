import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { findSlot, mustSuit } from "../../find-slot.ts";
import { given } from "../../given.ts";
import { shownTask } from "../../name-task.ts";
import { workflowReference } from "../../workflow-reference.ts";
import { writeJson } from "../../write-json.ts";
import type { CrewFlags } from "./ps.ts";

export interface AssignFlags extends CrewFlags {
  readonly workflow?: string;
}

export async function assign(this: Context, flags: AssignFlags, name: string, ticket: string) {
  const call = createCall(this);
  const { project, slot } = await findSlot(call, flags.project, name);
  mustSuit("assign", slot);
  const workflow = flags.workflow && workflowReference(flags.workflow);
  const answer = await call(routes.giveTicket, { params: { project, agent: name }, body: given({ ticket, workflow }) });
  if (flags.json) return this.print(writeJson(answer));
  const { task, warnings } = answer;
  this.print([name, task.ticket, shownTask(task), task.branch].join("  "));
  for (const warning of warnings) this.say(`${this.talkPaint.yellow("warning:")} ${warning}`);
}
