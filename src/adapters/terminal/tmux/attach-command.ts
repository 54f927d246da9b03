import type { AttachCommand } from "../../../ports/terminal.ts";
import { sessionTarget, windowTarget } from "./address.ts";
import { baseArguments } from "./run-tmux.ts";
import { leaveKeys } from "./settings.ts";

export interface AttachTo {
  readonly session: string;
  readonly run?: string;
}

/** What a person's terminal runs. Inside of a tmux of their own ours is shown in a pane of it. */
export function attachCommand(
  program: string,
  socket: string,
  { session, run }: AttachTo,
  env: NodeJS.ProcessEnv,
  pane?: string,
): AttachCommand {
  const target = run === undefined ? sessionTarget(session) : (pane ?? windowTarget(session, run));
  const isNested = (env.TMUX ?? "") !== "";
  return {
    argv: [program, ...baseArguments(socket), "attach-session", "-E", "-t", target],
    // Tmux refuses to run inside of itself, and must not take our server for the person's.
    env: { TMUX: undefined, TMUX_PANE: undefined },
    hint: isNested
      ? `${leaveKeys} brings you back, and the agent goes on. Your own tmux keeps its keys: they work on the outer one.`
      : `${leaveKeys} brings you back, and the agent goes on.`,
  };
}
