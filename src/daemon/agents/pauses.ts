import { readFileSync } from "node:fs";
import { publishFile } from "../../durable-file.ts";

/**
 * Which projects are paused: nothing is started for them, and nothing is lost. Stored in a file, so that it survives a
 * restart.
 */
export interface Pauses {
  /** A sentence where the project or everything is paused; otherwise undefined. */
  why(project: string): string | undefined;
  /**
   * Whether what began with a person's word at `wordAt` waits for the end of a pause: only a word after the beginning of the pause
   * counts. Without a word, every pause stops it.
   */
  stops(project: string, wordAt: number | undefined): boolean;
  list(): PausedState;
  /** An empty project means all. `isAtOnce`: the working runs end too, and so do those that are about to start. */
  set(project: string, isPaused: boolean, isAtOnce?: boolean): void;
  /** Whether a program of the project that was just started must be ended. */
  isHalted(project: string): boolean;
}

interface PausedState {
  readonly all: boolean;
  readonly projects: readonly string[];
}

/** The file, in which the name of all projects is empty. Files of older versions do not say when a pause began. */
interface Stored extends PausedState {
  readonly since: Readonly<Record<string, number>>;
}

export function createPauses(file: string, now: () => number): Pauses {
  let { since, ...state } = read(file);
  const halted = new Set<string>();
  return {
    why(project) {
      if (state.all) return "Everything is paused. Resume with: signalbox resume --all";
      return state.projects.includes(project)
        ? `The project ${project} is paused. Resume with: signalbox resume --project ${project}`
        : undefined;
    },
    stops(project, wordAt) {
      const isAfter = (scope: string) => wordAt !== undefined && wordAt > (since[scope] ?? 0);
      return (state.all && !isAfter("")) || (state.projects.includes(project) && !isAfter(project));
    },
    list: () => state,
    isHalted: (project) => halted.has("") || halted.has(project),
    set(project, isPaused, isAtOnce = false) {
      if (isAtOnce) halted.add(project);
      else if (!isPaused && project === "") halted.clear();
      else if (!isPaused) halted.delete(project);
      const others = state.projects.filter((each) => each !== project);
      // Resuming everything resumes the paused projects too.
      if (project === "") state = { all: isPaused, projects: isPaused ? state.projects : [] };
      else state = { ...state, projects: isPaused ? [...others, project] : others };
      const scopes = [...(state.all ? [""] : []), ...state.projects];
      const began = (scope: string) => (isPaused && scope === project ? now() : (since[scope] ?? 0));
      since = Object.fromEntries(scopes.map((scope) => [scope, began(scope)]));
      publishFile(file, `${JSON.stringify({ ...state, since })}\n`, { mode: 0o600 });
    },
  };
}

function read(file: string): Stored {
  try {
    const { all, projects, since } = JSON.parse(readFileSync(file, "utf8")) as Partial<Stored>;
    const times = Object.entries(since ?? {}).filter(([, at]) => typeof at === "number");
    const named = Array.isArray(projects) ? projects.map(String) : [];
    return { all: all === true, projects: named, since: Object.fromEntries(times) };
  } catch {
    return { all: false, projects: [], since: {} };
  }
}
