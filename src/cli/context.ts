import { cwd } from "node:process";
import type { CommandContext, StricliProcess } from "@stricli/core";
import { findRepository } from "../home/find-repository.ts";
import { homeFolder } from "../home/places.ts";
import { createPaint, type Paint } from "./paint.ts";
import { visible } from "./visible.ts";
import { fitted } from "./wrap.ts";

/** What every command gets: where the user's files are, and the terminal. */
export interface Context extends CommandContext {
  readonly process: StricliProcess;
  /** The folder of everything that is the user's. */
  readonly home: string;
  /** The git repository that the user is in. */
  readonly repository: string | undefined;
  readonly isTerminal: boolean;
  /** How wide lines may be. */
  readonly columns: number;
  /** How wide tables and lines of history may be: as the terminal is. What goes to a file or a program is never broken. */
  readonly tableWidth: number;
  /** Colours for stdout and for stderr; they do nothing where nobody sees them. */
  readonly paint: Paint;
  readonly talkPaint: Paint;
  /** Data: goes to stdout. */
  readonly print: (text: string) => void;
  /** Talk: goes to stderr. */
  readonly say: (text: string) => void;
}

const widest = 100;
/** Where less is there, the terminal breaks lines itself. */
const narrowest = 40;

export function createContext(process: NodeJS.Process): Context {
  const { stdout, stderr, env } = process;
  return {
    process: process as StricliProcess,
    home: homeFolder(env),
    repository: currentRepository(),
    isTerminal: stdout.isTTY === true,
    columns: Math.max(narrowest, Math.min(widest, stdout.columns || widest)),
    tableWidth: stdout.isTTY === true && stdout.columns > 0 ? stdout.columns : Number.POSITIVE_INFINITY,
    paint: createPaint(hasColour(stdout, env)),
    talkPaint: createPaint(hasColour(stderr, env)),
    print: (text) => stdout.write(line(text)),
    say: (text) => stderr.write(line(stderr.isTTY && stderr.columns > 0 ? fitted(text, stderr.columns) : text)),
  };
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

/** Node looks at NO_COLOR and TERM itself; what is no terminal has no colours. */
function hasColour(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env.NO_COLOR && stream.getColorDepth(env) > 1;
}
