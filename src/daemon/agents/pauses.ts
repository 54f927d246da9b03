import { readFileSync } from "node:fs";
import { publishFile } from "../../home/publish-file.ts";

/** Who is paused: nothing is started for them, and nothing is lost. It outlives the daemon. */
export interface Pauses {
  /** A sentence where a project is paused, or everything is; else undefined. */
  why(project: string): string | undefined;
  list(): PausedState;
  /** An empty project stands for all. `isAtOnce`: what is at work ends too, and so does what was about to start. */
  set(project: string, isPaused: boolean, isAtOnce?: boolean): void;
  /** Whether a program of the project that has just been started is to end. */
  isHalted(project: string): boolean;
}

export interface PausedState {
  readonly all: boolean;
  readonly projects: readonly string[];
}

export function createPauses(file: string): Pauses {
  let state = read(file);
  const halted = new Set<string>();
  return {
    why(project) {
      if (state.all) return "Everything is paused. Go on with: signalbox resume --all";
      return state.projects.includes(project)
        ? `The project ${project} is paused. Go on with: signalbox resume --project ${project}`
        : undefined;
    },
    list: () => state,
    isHalted: (project) => halted.has("") || halted.has(project),
    set(project, isPaused, isAtOnce = false) {
      if (isAtOnce) halted.add(project);
      else if (!isPaused && project === "") halted.clear();
      else if (!isPaused) halted.delete(project);
      const others = state.projects.filter((each) => each !== project);
      // Whoever resumes everything means everything.
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
