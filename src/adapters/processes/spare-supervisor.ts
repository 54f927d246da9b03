import { type ChildProcess, spawn } from "node:child_process";

export interface SpareSupervisor {
  /** Gives one that waits for the folder of its run on its input, where there is one. */
  take(): ChildProcess | undefined;
  /** A run has been started: the next one may follow soon. */
  wanted(): void;
}

/** Whoever was just started needs the processor more. */
const pause = 300;
/** How long one waits in vain. */
const patience = 30_000;

/**
 * Starts a supervisor before it is needed, so that an agent's next step need not wait for Node. It is nobody's until it gets
 * a folder; without one it ends when its input does: when we let it go, stop or die.
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
      // How it ended says why it does not read.
      made.stdin?.on("error", () => {});
      made.unref();
      (made.stdin as unknown as { unref?(): void } | null)?.unref?.();
      spare = made;
    }
    later(patience, () => {
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
