import type { CrewView, SlotView } from "../../../api/crew-routes.ts";
import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { findProject } from "../../find-project.ts";
import { writeTable } from "../../table.ts";
import { writeJson } from "../../write-json.ts";
import { writeAge } from "../../write-time.ts";
import { writeCost, writeTokens } from "../../write-usage.ts";

export interface CrewFlags {
  readonly project?: string;
  readonly json: boolean;
}

const symbols = { idle: "○", ready: "◐", working: "●", done: "✓", stuck: "!" } as const;

export async function ps(this: Context, flags: CrewFlags) {
  const call = createCall(this);
  const { name: project } = await findProject(call, flags.project);
  const crew = await call(routes.getCrew, { params: { project } });
  if (flags.json) return this.print(writeJson({ agents: crew.agents.map(asState) }));
  if (crew.agents.length > 0) this.print(writeSlots(this, crew.agents));
  else this.say(`${project} has no agents. To make three: signalbox crew spawn 3`);
  tellRunner(this, crew);
}

/** Whether tickets are given out, and what is in the way. */
export function tellRunner(context: Context, crew: CrewView): void {
  const { running, most, waiting, leftOver, problems, agents, poolSize } = crew;
  const open = waiting.length === 0 ? "No ticket waits." : `${waiting.length} ready: ${few(waiting)}.`;
  const state = running
    ? `Tickets are given to idle agents, ${most} at most at once.`
    : "Tickets are given to nobody. To give them out: signalbox crew run";
  context.say(`\n${open} ${state}`);
  const [first] = leftOver;
  if (first !== undefined)
    context.say(`Had before, and open again: ${few(leftOver)}. To give one out: signalbox crew assign NAME ${first}`);
  const yellow = context.talkPaint.yellow("warning:");
  for (const { ticket, problem } of problems) context.say(`${yellow} ${ticket === "" ? "" : `${ticket}: `}${problem}`);
  if (running && poolSize < Math.min(agents.length, most))
    context.say(
      `${yellow} ${crew.project} has room for ${poolSize} at once. For more: signalbox project update ${crew.project} --pool-size ${Math.min(agents.length, most)}`,
    );
}

function writeSlots(context: Context, agents: readonly SlotView[]): string {
  const { paint, columns } = context;
  const table = [
    { title: " " },
    { title: "AGENT", paint: paint.bold },
    { title: "STATE" },
    { title: "TICKET" },
    { title: "TASK" },
    { title: "STEPS", align: "right" },
    { title: "SINCE", align: "right" },
    { title: "TOKENS", align: "right" },
    { title: "COST", align: "right" },
    { title: "WHY" },
  ] as const;
  const now = Date.now();
  const rows = agents.map((slot) => [
    symbols[slot.state],
    slot.name,
    slot.state,
    slot.ticket || "–",
    slot.task || "–",
    slot.task === "" ? "–" : String(slot.steps),
    slot.assignedAt === null ? "–" : writeAge(slot.assignedAt, now),
    writeTokens(slot.inputTokens + slot.outputTokens),
    writeCost(slot.cost),
    slot.reason.replace(/\s+/g, " "),
  ]);
  return writeTable(table, rows, columns);
}

/** In the words of the file in which crews have kept their state. */
function asState(slot: SlotView) {
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

function few(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(", ")}, …` : names.join(", ");
}
