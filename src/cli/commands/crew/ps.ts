import type { CrewView, SlotView } from "../../../api/crew-routes.ts";
import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { findProjectToShow } from "../../find-project.ts";
import { aboutTickets, aboutTroubles, writeSlots } from "../../slot-table.ts";
import { writeJson } from "../../write-json.ts";

export interface CrewFlags {
  readonly project?: string;
  readonly json: boolean;
}

export async function ps(this: Context, flags: CrewFlags) {
  const call = createCall(this);
  const { name: project } = await findProjectToShow(call, flags.project);
  const crew = await call(routes.getCrew, { params: { project } });
  if (flags.json) return this.print(writeJson({ agents: crew.agents.map(asState) }));
  // Whoever reads it from a pipe gets a line for each agent, with everything in it.
  const columns = this.tableWidth;
  const why = { title: "WHY", says: ({ reason }: SlotView) => reason };
  if (crew.agents.length > 0) this.print(writeSlots({ paint: this.paint, columns }, crew.agents, Date.now(), why));
  else this.say(`${project} has no agents. To make three: signalbox crew spawn 3`);
  tellRunner(this, crew);
}

/** Whether tickets are given out, and what is in the way. */
export function tellRunner(context: Context, crew: CrewView): void {
  context.say(`\n${aboutTickets(crew)}`);
  const warning = context.talkPaint.yellow("warning:");
  for (const { isTrouble, text } of aboutTroubles(crew)) context.say(isTrouble ? `${warning} ${text}` : text);
}

/** In the words of the file in which crews have kept their state. */
export function asState(slot: SlotView) {
  return {
    name: slot.name,
    session: slot.session,
    worktree: slot.workspace === "" ? null : slot.workspace,
    branch: slot.branch,
    task: slot.ticket === "" ? slot.task || null : slot.ticket,
    task_assigned_at: slot.assignedAt,
    status: slot.state,
    started_at: slot.madeAt,
    step_count: slot.steps,
    last_step_at: slot.stepAt,
    total_input_tokens: slot.inputTokens,
    total_output_tokens: slot.outputTokens,
    total_cost_usd: slot.cost,
  };
}
