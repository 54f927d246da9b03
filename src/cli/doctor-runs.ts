import type { Call } from "../api/client.ts";
import { routes } from "../api/routes.ts";
import { count } from "./count.ts";
import { type Check, type Finding, ok, warning } from "./doctor-finding.ts";
import { shownTask } from "./name-task.ts";

const mostTasks = "1000";

/** Agents that need a person, or are dead while their task counts on them. Only a daemon that runs can tell. */
export function runCheck(call: Call | undefined): Check {
  return {
    name: "runs",
    look: () => (call === undefined ? ok("the daemon looks after them when it runs") : look(call)),
  };
}

async function look(call: Call): Promise<readonly Finding[]> {
  // A daemon of an older version does not say it.
  const { terminalProblem: { reason, fix } = { reason: "", fix: "" } } = await call(routes.status, { query: {} });
  const mute = reason === "" ? [] : warning(reason, fix);
  const { runs } = await call(routes.listRuns, { query: {} });
  const { tasks } = await call(routes.listTasks, { query: { open: "true", limit: mostTasks } });
  const { harnesses } = await call(routes.listHarnesses, { query: {} });
  const dead = tasks
    .filter(({ session, needsPerson }) => session === "dead" && needsPerson)
    .flatMap((task) => warning(`the agent of ${shownTask(task)} is dead`, `signalbox task respawn ${shownTask(task)}`));
  // What else is held is told of with the tasks.
  const troubled = tasks
    .filter(({ held, session }) => held === null && session !== "dead")
    .flatMap((task) =>
      task.needs
        .filter(({ reason }) => reason === "agent")
        .flatMap(({ brief, command }) => warning(`${shownTask(task)}: ${brief}`, command)),
    );
  const limited = harnesses
    .filter(({ limitedUntil }) => limitedUntil !== null)
    .flatMap(({ name, title, limitedUntil }) =>
      warning(`${title} takes no more until ${limitedUntil}`, `signalbox resume --harness ${name}`),
    );
  const found = [...mute, ...dead, ...troubled, ...limited];
  if (found.length > 0) return found;
  return ok(runs.length === 0 ? "no agent is at work" : `${count(runs.length, "agent")} at work, none needs a person`);
}
