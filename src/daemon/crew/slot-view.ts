import type { SlotView } from "../../api/crew-routes.ts";
import type { Agent, Usage } from "../../ports/records.ts";
import type { Core } from "../core.ts";
import { agentView } from "../requests/agents.ts";
import { isoTime } from "../views.ts";

/** A named agent with what it is at and what it has used up, for all tasks that it has had. */
export async function slotView(core: Core, agent: Agent): Promise<SlotView> {
  const { name, state, reason, task: shown } = await agentView(core, agent);
  const stored = agent.task === "" ? undefined : await core.store.getTask(agent.task);
  const task = stored?.isOpen ? stored.task : undefined;
  const runs = task === undefined ? [] : await core.store.runs.list({ task: task.id });
  const run = runs.filter(({ started }) => started !== undefined).at(-1);
  const signAt = run && (core.agents?.watchOf(run.id)?.signs.signAt ?? run.endedAt ?? run.started?.at);
  const had = new Set([...(agent.had ?? []), ...(agent.task === "" ? [] : [agent.task])]);
  const used = (core.agents?.book.list() ?? []).filter((usage) => had.has(usage.task) && isSomething(usage));
  const sum = (of: (usage: (typeof used)[number]) => number) => used.reduce((total, usage) => total + of(usage), 0);
  return {
    name,
    state,
    reason,
    task: shown,
    lastTask: agent.task,
    ticket: task?.ticket ?? "",
    branch: task?.branch ?? "",
    workspace: task?.workspace ?? "",
    session: run?.session ?? "",
    steps: runs.filter(({ started, word }) => started?.mode === "steps" && steps.has(word)).length,
    assignedAt: stored?.isOpen ? isoTime(stored.createdAt) : null,
    stepAt: signAt === undefined ? null : isoTime(signAt),
    madeAt: isoTime(agent.at),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cost: used.length > 0 && used.every(({ cost }) => cost === undefined) ? null : sum(({ cost }) => cost ?? 0),
  };
}

/** How a step ends that was not in vain: more are to come, or all is done. */
const steps: ReadonlySet<string> = new Set(["step", "ok"]);

/** A run that has used nothing yet says nothing of what it costs either. */
function isSomething({ inputTokens, outputTokens, cost }: Usage): boolean {
  return inputTokens + outputTokens > 0 || cost !== undefined;
}
