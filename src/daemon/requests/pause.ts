import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { Run } from "../../ports/records.ts";
import type { Agents } from "../agents/agents.ts";
import { harnessNamed } from "../agents/harnesses.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { agentsOf } from "./agents-of.ts";
import { mustHave } from "./projects.ts";

export function pause(core: Core): Handler<Routes["pause"]> {
  return async ({ body }) => {
    const agents = agentsOf(core);
    const project = await meant(core, body);
    // It counts from now on. That it could not be written down keeps no program alive.
    const unwritten = noteOf(() => agents.pauses.set(project, true, body.now === true));
    // One that sleeps has no program, and wakes only once it may take a seat.
    const isMeant = ({ project: of, started }: Run) =>
      (project === "" || of === project) && started?.asleepSince === undefined;
    const meantRuns = body.now === true ? await agents.brake.runsOf(isMeant) : [];
    // They are not to blame: each goes on in its session when everything goes on.
    const end = { word: "lost", reason: "A person has paused everything." } as const;
    const killing = body.now === true ? core.commands.killPaused() : 0;
    const results = await Promise.all(meantRuns.map(async (run) => ({ run, ended: await agents.end(run, end) })));
    const failed = results.flatMap(({ run, ended }) =>
      ended.kind === "alive" ? [{ run: run.id, problem: ended.problem }] : [],
    );
    const ended = results.length - failed.length;
    const commands = await killing;
    core.log.info("Paused", { project: project || "all", ended, commands, failed: failed.length });
    if (unwritten !== undefined) throw unwritten;
    return { ...agents.pauses.list(), ended, commands, failed };
  };
}

function noteOf(write: () => void): unknown {
  try {
    write();
    return undefined;
  } catch (error) {
    return error;
  }
}

export function resume(core: Core): Handler<Routes["resume"]> {
  return async ({ body }) => {
    const agents = agentsOf(core);
    if (body.harness !== undefined) {
      liftLimit(core, agents, body.harness);
      return { ...agents.pauses.list(), ended: 0, commands: 0, failed: [] };
    }
    const project = await meant(core, body);
    agents.pauses.set(project, false);
    agents.dispatch.wake();
    core.scheduler.wake();
    core.commands.resumed();
    core.repositories?.merging.resumed();
    core.performer.resumed();
    core.log.info("Resumed", { project: project || "all" });
    return { ...agents.pauses.list(), ended: 0, commands: 0, failed: [] };
  };
}

/** A person has looked: what a provider said about its limit does not count any more. */
function liftLimit(core: Core, { ports, dispatch, watches }: Agents, name: string): void {
  const { title } = harnessNamed(ports.harnesses, name);
  if (!dispatch.lift(name))
    throw new Fault("harness.unlimited", `No limit is known of ${title}: its agents are started.`, {
      hint: "To see what a task waits for: signalbox task explain TASK",
    });
  for (const { run } of watches()) if (run.harness === name) core.needs.noticed(run.task);
  core.log.info("A provider's limit was lifted by a person", { harness: name });
}

async function meant(core: Core, { project, all }: { project?: string; all?: boolean }): Promise<string> {
  if (all === true) return "";
  if (project !== undefined) return (await mustHave(core, project)).name;
  throw new Fault("usage", "Say which project, or --all.");
}
