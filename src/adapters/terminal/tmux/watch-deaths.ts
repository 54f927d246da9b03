import { type ChildProcess, spawn } from "node:child_process";
import type { Ask } from "./ask.ts";
import { environment } from "./environment.ts";
import { nudge } from "./nudge.ts";
import { baseArguments } from "./run-tmux.ts";
import { deathChannel } from "./settings.ts";

export interface DeathWatch {
  watch(listener: () => void): () => void;
  /** Tells that there is a server, now that somebody has seen it; `pid` is its process. */
  serverSeen(pid: number): void;
}

// An ending that tmux has missed is known after this time. With a hundred panes each costs the server half a millisecond.
const nudgeInterval = 150;

/**
 * Waits inside of tmux until a hook of the server says that a pane has died; while nothing happens that costs nothing. What
 * is said while nobody waits may be lost, for the second word takes back the first. So everybody is also told whenever a
 * wait has begun. Where there is no server there is nothing to wait for until somebody sees one.
 */
export function createDeathWatch(program: string, socket: string, ask: Ask): DeathWatch {
  const listeners = new Set<() => void>();
  let waiting: ChildProcess | undefined;
  let isFirst = true;
  let server = 0;
  let nudging: NodeJS.Timeout | undefined;

  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  const arm = () => {
    if (waiting !== undefined || listeners.size === 0) return;
    const begin = ["display-message", "-p", "begun", ";", "wait-for", deathChannel];
    const child = spawn(program, [...baseArguments(socket), ...begin], {
      cwd: "/",
      env: environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    waiting = child;
    child.unref();
    nudging ??= setInterval(() => nudge(server), nudgeInterval).unref();
    child.stdout.once("data", () => {
      if (waiting === child) tell();
    });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString("utf8")).slice(-1000);
    });
    child.on("error", () => {
      if (waiting === child) disarm();
    });
    child.on("close", (code) => {
      if (waiting !== child) return;
      if (code === 0) {
        waiting = undefined;
        arm();
      } else disarm();
      // A server that dies takes all panes with it; one that was not there took nothing.
      if (code === 0 || !/no server running|error connecting/.test(said)) tell();
    });
  };
  const disarm = () => {
    waiting = undefined;
    clearInterval(nudging);
    nudging = undefined;
  };
  const serverSeen = (pid: number) => {
    server = pid;
    if (waiting !== undefined || listeners.size === 0) return;
    if (!isFirst) return arm();
    isFirst = false;
    // Whoever waited for a predecessor of ours that was killed waits still, and must not do so for ever.
    ask(["wait-for", "-S", deathChannel]).then(arm, arm);
  };

  return {
    watch: (listener) => {
      listeners.add(listener);
      if (server !== 0) serverSeen(server);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        const child = waiting;
        disarm();
        child?.kill("SIGKILL");
      };
    },
    serverSeen,
  };
}
