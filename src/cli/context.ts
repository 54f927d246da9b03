import { cwd } from "node:process";
import type { CommandContext, StricliProcess } from "@stricli/core";
import type { ProjectView } from "../api/routes.ts";
import { configFault, configFromEnvironment, type Layers, loadConfig } from "../home/config.ts";
import type { Level, PartialConfig } from "../home/config-fields.ts";
import { findRepository, homeFolder, homePlaces } from "../home/places.ts";
import { readRepositoryConfig, trustedChoices } from "../home/trust.ts";
import { createPaint, type Paint, visible } from "./fast/tell.ts";
import { fitted } from "./text.ts";

/** All layers of the configuration of a repository, except flags. */
export function configLayers(
  { home, process: { env = {} } }: Context,
  repository: string | undefined,
  project: ProjectView | undefined,
): Layers {
  const own = repository === undefined ? undefined : readRepositoryConfig(home, repository);
  return {
    environment: configFromEnvironment(env),
    repository: own && trustedChoices(own, homePlaces(home)),
    project: project && projectConfig(project),
    user: readSound(homePlaces(home).config, "user"),
  };
}

/** The values of a configuration file; throws if the file is invalid. */
export function readSound(file: string, level: Level): PartialConfig {
  const { config, problems } = loadConfig(file, level);
  if (problems.length > 0) throw configFault(file, problems);
  return config;
}

/** The recorded settings of a project. Empty fields count as unset. */
function projectConfig({ workflow, harness, reviewHarness, branchPrefix, poolSize }: ProjectView): PartialConfig {
  const said = Object.entries({ workflow, harness, reviewHarness, branchPrefix, poolSize });
  return Object.fromEntries(said.filter(([, value]) => value !== ""));
}

/** What every command gets: the locations of the user's files, and the terminal. */
export interface Context extends CommandContext {
  readonly process: StricliProcess;
  /** The user's Signalbox folder. */
  readonly home: string;
  /** The git repository of the current folder. */
  readonly repository: string | undefined;
  readonly isTerminal: boolean;
  /** The maximum width of lines. */
  readonly columns: number;
  /** The maximum width of tables and history: the terminal's width. Output to a file or a pipe is never wrapped. */
  readonly tableWidth: number;
  /** Colours for stdout and for stderr; without a terminal they do nothing. */
  readonly paint: Paint;
  readonly talkPaint: Paint;
  /** Data: goes to stdout. */
  readonly print: (text: string) => void;
  /** Talk: goes to stderr. */
  readonly say: (text: string) => void;
  /** The program was called without a command. */
  readonly isAlone?: boolean;
  /** When the fast path sent the request of this command, if the daemon ended before it answered. */
  readonly sentAt?: number;
}

const maxWidth = 100;
/** On a narrower terminal, the terminal itself wraps lines. */
const minWidth = 40;

export function createContext(process: NodeJS.Process): Context {
  const { stdout, stderr, env } = process;
  return {
    process: process as StricliProcess,
    home: homeFolder(env),
    repository: currentRepository(),
    isTerminal: stdout.isTTY === true,
    columns: Math.max(minWidth, Math.min(maxWidth, stdout.columns || maxWidth)),
    tableWidth: stdout.isTTY === true && stdout.columns > 0 ? stdout.columns : Number.POSITIVE_INFINITY,
    paint: createPaint(hasColour(stdout, env)),
    talkPaint: createPaint(hasColour(stderr, env)),
    print: (text) => stdout.write(line(text)),
    say: (text) => stderr.write(line(fittedTalk(stderr, text))),
  };
}

/** A message as written to stderr: wrapped between words on a terminal. */
export function fittedTalk(stderr: object, text: string): string {
  const { isTTY, columns = 0 } = stderr as Partial<NodeJS.WriteStream>;
  return isTTY && columns > 0 ? fitted(text, columns) : text;
}

function currentRepository(): string | undefined {
  try {
    return findRepository(cwd());
  } catch {
    // The folder may be gone.
    return undefined;
  }
}

function line(text: string): string {
  return visible(text.endsWith("\n") ? text : `${text}\n`);
}

/** Node itself checks NO_COLOR and TERM; a stream that is not a terminal has no colours. */
function hasColour(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env.NO_COLOR && stream.getColorDepth(env) > 1;
}
