import { readFileSync } from "node:fs";
import { publishFile } from "../../durable-file.ts";

/**
 * Which projects are paused: nothing is started for them, and nothing is lost. Stored in a file, so that it survives a
 * restart.
 */
export interface Pauses {
  /** A sentence where the project or everything is paused; otherwise undefined. */
  why(project: string): string | undefined;
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

export function createPauses(file: string): Pauses {
  let state = read(file);
  const halted = new Set<string>();
  return {
    why(project) {
      if (state.all) return "Everything is paused. Resume with: signalbox resume --all";
      return state.projects.includes(project)
        ? `The project ${project} is paused. Resume with: signalbox resume --project ${project}`
        : undefined;
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
      publishFile(file, `${JSON.stringify(state)}\n`, { mode: 0o600 });
    },
  };
}

function read(file: string): PausedState {
  try {
    const { all, projects } = JSON.parse(readFileSync(file, "utf8")) as PausedState;
    return { all: all === true, projects: Array.isArray(projects) ? projects.map(String) : [] };
  } catch {
    return { all: false, projects: [] };
  }
}
