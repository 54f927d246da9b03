import type { TmuxEnd } from "./run-tmux.ts";

/** Asks our tmux server something. */
export type Ask = (args: readonly string[], input?: string) => Promise<TmuxEnd>;
