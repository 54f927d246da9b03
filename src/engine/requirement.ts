import { isYes } from "./run-ended.ts";
import { matches } from "./take-rule.ts";
import type { Task } from "./task.ts";
import type { Workflow } from "./workflow.ts";

/**
 * What is to be built, as a text for agents: the message that ended a dialogue as its state demands, confirmed by the
 * person where the state asks for that. Without one, the summary and everything that was said.
 */
export function requirementOf(workflow: Workflow, { summary, log, results }: Task): string {
  const message = log.findLast(({ from }) => from === "agent")?.text.trim();
  const isSettled = Object.values(workflow.states).some(({ wait }) => {
    if (wait.kind !== "agent" || wait.run.mode !== "dialogue") return false;
    const { result, until, confirm } = wait.run;
    if (result === undefined || until === undefined || !matches(until, results[result])) return false;
    const last = log.at(-1);
    return confirm ? last?.from === "human" && isYes(last.text) : last?.from === "agent";
  });
  if (isSettled && message !== undefined && message !== "") return message;
  const talk = log.map(({ from, text }) => `${from}: ${text}`).join("\n");
  return talk === "" ? summary : `${summary}\n\nWhat was said about it:\n${talk}`;
}
