import { Fault } from "../fault.ts";
import { configFault, loadConfig } from "./config.ts";
import type { Config, PartialConfig } from "./config-fields.ts";
import { watchConfig } from "./config-watch.ts";
import { resolveConfig } from "./resolve-config.ts";

/** The user's configuration while the daemon runs: always the last good one. */
export interface LiveConfig {
  current(): { readonly values: PartialConfig; readonly problems: readonly string[] };
  /** With a value for everything. */
  resolved(): Config;
  stop(): void;
}

interface Listener {
  info(message: string): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  setLevel(level: Config["logLevel"]): void;
}

export function createLiveConfig(file: string, log: Listener, onChange: (config: Config) => void): LiveConfig {
  let values: PartialConfig = {};
  let problems: readonly string[] = [];
  const resolved = () => {
    const entries = Object.entries(resolveConfig({ user: values })).map(([name, { value }]) => [name, value] as const);
    return Object.fromEntries(entries) as unknown as Config;
  };
  const use = (config: PartialConfig) => {
    values = config;
    problems = [];
    log.setLevel(resolved().logLevel);
  };
  const complain = (fault: Fault) => {
    problems = fault.message.split("\n").map((line) => line.trim());
    log.warn("The configuration is wrong; the last good one is in use", { reason: fault.message });
  };
  const stop = watchConfig(
    file,
    (config) => {
      use(config);
      log.info("The configuration was read anew");
      onChange(resolved());
    },
    complain,
  );
  try {
    const first = loadConfig(file, "user");
    if (first.problems.length === 0) use(first.config);
    else complain(configFault(file, first.problems));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    complain(error);
  }
  return { current: () => ({ values, problems }), resolved, stop };
}
