import type { Processes } from "../../ports/processes.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { Terminal } from "../../ports/terminal.ts";
import type { ReportedEnd } from "./report-end.ts";
import { processName } from "./run-name.ts";
import type { RunWatch } from "./watch-run.ts";

export interface EndingPorts {
  readonly terminal: Terminal;
  readonly processes: Processes;
  /** The run is over: it is not looked after any more, and the engine is told. */
  finish(watch: RunWatch, end: ReportedEnd): Promise<void>;
}

export type Ending = NonNullable<StartedRun["ending"]>;

export async function endRun(ports: EndingPorts, watch: RunWatch, ending: Ending): Promise<void> {
  await noteEnding(watch, ending);
  await killRun(ports, watch.run);
  await ports.finish(watch, ending);
}

/**
 * Comes before the end of its program: if we die meanwhile, whoever comes after us neither takes its death for one of its own
 * nor lets it go on.
 */
export async function noteEnding(watch: RunWatch, { word, reason }: Ending): Promise<void> {
  await watch.keep({ started: { ...watch.started, ending: { word, reason } } });
}

/** Ends the process of a run, with everything that it started. */
export async function killRun({ terminal, processes }: Pick<EndingPorts, "terminal" | "processes">, { started }: Run) {
  if (started === undefined) return;
  if (started.mode === "session") await terminal.close(started.name);
  else await processes.kill(processName(started));
}
