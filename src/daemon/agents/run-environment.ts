import { delimiter, join } from "node:path";
import { agentVariables } from "../../home/daemon-environment.ts";
import type { Places } from "../../home/places.ts";

export interface EnvironmentPorts {
  /** The daemon's own. */
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  readonly places: Places;
  /** Variables that the user lets through besides. */
  allowed(): readonly string[];
}

export interface RunVariables {
  readonly token: string;
  readonly task: string;
  readonly role: string;
  readonly run: string;
  readonly taskFile: string;
  readonly events: string;
  readonly port: number | undefined;
}

export function runEnvironment(
  { env, home, places, allowed }: EnvironmentPorts,
  run: RunVariables,
): Readonly<Record<string, string>> {
  const names = [...agentVariables, ...Object.keys(env).filter((name) => name.startsWith("LC_")), ...allowed()];
  const taken = names.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(taken),
    PATH: [places.bin, env.PATH ?? "/usr/local/bin:/usr/bin:/bin"].join(delimiter),
    TERM: "xterm-256color",
    SIGNALBOX_HOME: home,
    SIGNALBOX_TOKEN: run.token,
    SIGNALBOX_TASK: run.task,
    SIGNALBOX_ROLE: run.role,
    SIGNALBOX_RUN: run.run,
    SIGNALBOX_TASK_FILE: run.taskFile,
    SIGNALBOX_EVENTS: run.events,
    ...(run.port === undefined ? {} : { PORT: String(run.port), SIGNALBOX_PORT: String(run.port) }),
  };
}

/** The file that a run's hooks write to; its whole path is in the environment of everything that the run starts. */
export function eventsFile({ runs }: Places, name: string): string {
  return join(runs, name, "events");
}

/** What only the processes of this run have in their environment. */
export function runMark(places: Places, name: string): string {
  return `SIGNALBOX_EVENTS=${eventsFile(places, name)}`;
}

/** What our own programs go by. Not every harness hands its environment on to the servers that it starts. */
export function ownVariables(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith("SIGNALBOX_")));
}
