import type { Call } from "../api/client.ts";
import type { SlotView } from "../api/crew-routes.ts";
import { type ProjectView, routes } from "../api/routes.ts";
import { type AgentCommand, whyNotFrom } from "../engine/agent-commands.ts";
import { didYouMean } from "../engine/language/nearest.ts";
import { Fault } from "../fault.ts";
import { findProject, findProjectToShow } from "./find-project.ts";

export interface FoundSlot {
  readonly project: string;
  readonly slot: SlotView;
}

/** A named agent, to do something with it: of the project that is named, or that of this folder. */
export async function findSlot(call: Call, named: string | undefined, name: string): Promise<FoundSlot> {
  return slotOf(call, await findProject(call, named), name);
}

/** A named agent, only to look at it. */
export async function findSlotToShow(call: Call, named: string | undefined, name: string): Promise<FoundSlot> {
  return slotOf(call, await findProjectToShow(call, named), name);
}

async function slotOf(call: Call, { name: project }: ProjectView, name: string): Promise<FoundSlot> {
  const { agents } = await call(routes.getCrew, { params: { project } });
  const slot = agents.find((each) => each.name === name);
  if (slot !== undefined) return { project, slot };
  const names = agents.map((each) => each.name);
  throw new Fault("agent.missing", `${project} has no agent "${name}".`, {
    hint: names.length === 0 ? "Make some: signalbox crew spawn 3" : didYouMean(name, names),
  });
}

/** The task that it is at, or was at last: what it has printed can be read afterwards, too. */
export function lastTaskOf({ name, lastTask }: SlotView): string {
  if (lastTask !== "") return lastTask;
  throw new Fault("agent.idle", `${name} has had no task yet.`, {
    hint: `Give it one: signalbox crew assign ${name} TICKET`,
  });
}

/** Refuses what is not for one that is so. */
export function mustSuit(command: AgentCommand, { name, state }: SlotView): void {
  const refusal = whyNotFrom(command, name, state);
  if (refusal !== undefined) throw new Fault("agent.state", refusal.text, { hint: refusal.fix });
}
