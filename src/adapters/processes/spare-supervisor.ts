import { type ChildProcess, spawn } from "node:child_process";

export interface SpareSupervisor {
  /** Takes the spare supervisor, which waits for its run's folder on standard input; undefined if there is none. */
  take(): ChildProcess | undefined;
  /** Reports that a run was started, so another one may follow soon. */
  wanted(): void;
}

/** Milliseconds to wait after a start: the program that was just started needs the processor more. */
const pause = 300;
/** How long an unused spare supervisor is kept. */
const spareTimeout = 30_000;

/**
 * Starts a supervisor before it is needed, so that an agent's next step need not wait for Node. It belongs to no run
 * until it gets a folder. Without one it ends when its input is closed: when the daemon releases it, stops or dies.
 */
export function createSpare([program = "", ...rest]: readonly string[]): SpareSupervisor {
  let spare: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  const later = (milliseconds: number, act: () => void) => {
    clearTimeout(timer);
    timer = setTimeout(act, milliseconds).unref();
  };
  const make = () => {
    if (spare === undefined) {
      const made = spawn(program, rest, { cwd: "/", env: {}, detached: true, stdio: ["pipe", "ignore", "ignore"] });
      const forget = () => {
        if (spare === made) spare = undefined;
      };
      made.on("error", forget);
      made.on("exit", forget);
      // The exit event reports the same failure.
      made.stdin?.on("error", () => {});
      made.unref();
      (made.stdin as unknown as { unref?(): void } | null)?.unref?.();
      spare = made;
    }
    later(spareTimeout, () => {
      spare?.stdin?.end();
      spare = undefined;
    });
  };
  return {
    take() {
      const taken = spare;
      spare = undefined;
      return taken?.pid === undefined ? undefined : taken;
    },
    wanted: () => later(pause, make),
  };
}
