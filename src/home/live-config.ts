import { type FSWatcher, realpathSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { Fault } from "../fault.ts";
import { shellQuote } from "../shell-quote.ts";
import { configFault, loadConfig, resolveConfig } from "./config.ts";
import { type Config, configFields, configNames, type PartialConfig } from "./config-fields.ts";

// An editor saves in several steps; wait until it has finished, because the file is incomplete between them.
const debounceTime = 50;

/**
 * Calls `onChange` with the new configuration whenever the user's file changes, and `onProblem` when the file is
 * invalid; the last valid configuration then stays in use. Start watching before you read the file, so that no change
 * is missed. Returns a function that stops it.
 */
export function watchConfig(
  file: string,
  onChange: (config: PartialConfig) => void,
  onProblem: (fault: Fault) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let last: string | undefined;
  const look = () => {
    const seen = reading(file);
    if (seen.key === last) return;
    last = seen.key;
    if (seen.fault === undefined) onChange(seen.config);
    else onProblem(seen.fault);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(look, debounceTime);
  };
  const watchers = watchedPaths(file).map((path) => watchName(path, later, onProblem));
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher?.close();
  };
}

function reading(file: string) {
  try {
    const { config, problems } = loadConfig(file, "user");
    const fault = problems.length === 0 ? undefined : configFault(file, problems);
    return { config, fault, key: fault?.message ?? JSON.stringify(config) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { config: {}, fault: error, key: error.message };
  }
}

/** The file, and the link's target if it is a link. */
function watchedPaths(file: string): readonly string[] {
  try {
    return [...new Set([file, realpathSync(file)])];
  } catch {
    return [file];
  }
}

/** Watches the folder, because a watcher of the file itself would stay with the old file after a rename. */
function watchName(path: string, onEvent: () => void, onProblem: (fault: Fault) => void): FSWatcher | undefined {
  const fail = (error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    onProblem(
      new Fault("unwatchable", `Changes of ${path} cannot be watched (${code}).`, {
        hint: "Check the folder, or restart the daemon after each change.",
        cause: error,
      }),
    );
  };
  try {
    const watcher = watch(dirname(path), { persistent: false }, (_, name) => {
      if (name === null || name === basename(path)) onEvent();
    });
    return watcher.on("error", fail);
  } catch (error) {
    fail(error);
    return undefined;
  }
}

/** The user's configuration, as far as it is known. */
export interface CurrentConfig {
  readonly values: PartialConfig;
  readonly problems: readonly string[];
  /** What is wrong, and what applies meanwhile, in one line; empty or missing if nothing is wrong. */
  readonly warning?: string;
  /**
   * Why no configuration is known: the file has been invalid since the daemon started. The values are defaults then,
   * and no action that a setting guards may rely on them.
   */
  readonly unknown?: Fault | undefined;
}

/** The user's configuration while the daemon runs: always the last valid one. */
export interface LiveConfig {
  current(): CurrentConfig;
  /** With the default for every field that is not set. */
  resolved(): Config;
  /** Resolves once a valid configuration is known. */
  known(): Promise<void>;
  stop(): void;
}

interface Listener {
  info(message: string): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  setLevel(level: Config["logLevel"]): void;
}

export function createLiveConfig(
  file: string,
  log: Listener,
  onChange: (config: Config, changed: readonly string[]) => void,
): LiveConfig {
  let values: PartialConfig = {};
  let problems: readonly string[] = [];
  let unknown: Fault | undefined;
  let isKnown = false;
  const firstGood = Promise.withResolvers<void>();
  const resolved = () => {
    const entries = Object.entries(resolveConfig({ user: values })).map(([name, { value }]) => [name, value] as const);
    return Object.fromEntries(entries) as unknown as Config;
  };
  const use = (config: PartialConfig) => {
    values = config;
    problems = [];
    unknown = undefined;
    isKnown = true;
    log.setLevel(resolved().logLevel);
    firstGood.resolve();
  };
  const complain = (fault: Fault) => {
    problems = fault.message.split("\n").map((line) => line.trim());
    if (!isKnown) unknown = unknownConfig(file, fault);
    const meanwhile = isKnown
      ? "the last good one is in use"
      : "nothing is started, merged or changed until it is fixed";
    log.warn(`The configuration is wrong; ${meanwhile}`, { reason: fault.message });
  };
  const stop = watchConfig(
    file,
    (config) => {
      const before = values;
      use(config);
      log.info("The configuration was reloaded");
      onChange(resolved(), changedKeys(before, config));
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
  const current = () => ({ values, problems, unknown, warning: warningOf(file, problems, isKnown) });
  return { current, resolved, known: () => firstGood.promise, stop };
}

/** The settings, as a person writes them, that differ. */
function changedKeys(before: PartialConfig, after: PartialConfig): readonly string[] {
  const isSame = (name: keyof Config) => JSON.stringify(before[name]) === JSON.stringify(after[name]);
  return configNames.filter((name) => !isSame(name)).map((name) => configFields[name].key);
}

/** The Fault for actions that depend on unknown settings. */
function unknownConfig(file: string, { message, cause }: Fault): Fault {
  const move = `mv ${shellQuote([file, `${file}.broken`])}`;
  return new Fault(
    "config.unknown",
    `${message}\nThe daemon knows no earlier configuration, so it cannot know what you allow: it starts, merges and changes nothing.`,
    {
      hint: `Fix the file, or move it away: ${move}\nUntil then you can still look at tasks, cancel and pause them, and stop the daemon.`,
      cause,
    },
  );
}

/** One line that is shown with other answers; empty if nothing is wrong. */
function warningOf(file: string, problems: readonly string[], isKnown: boolean): string {
  const [summary = "", first = "", ...more] = problems;
  if (summary === "") return "";
  const what = first === "" ? summary : `The configuration is wrong: ${first}`;
  const others = more.length === 0 ? "" : ` (and ${more.length} more: signalbox doctor)`;
  const meanwhile = isKnown
    ? "The last good configuration is still in use."
    : `Nothing is started, merged or changed until ${file} is fixed.`;
  return `${what}${others} ${meanwhile}`;
}
