import type { RunView } from "../api/agents.ts";
import type { Call } from "../api/client.ts";
import type { EventView } from "../api/tasks.ts";
import type { followTerminal } from "../api/terminal.ts";
import type { Describe } from "./entries.ts";

/** What the dashboard needs of the program that it runs in. */
export interface Ports {
  readonly call: Call;
  /** Follows the event feed until the signal fires, and takes it up again where it was. */
  follow(listener: FeedListener, signal: AbortSignal): Promise<void>;
  /** A WebSocket to the route `watchTerminal`. */
  openTerminal(task: string): Parameters<typeof followTerminal>[0];
  /** An event in words. */
  readonly describe: Describe;
  /** Runs a command of Signalbox in this terminal, which was restored for it. Resolves with its exit code. */
  runHere(words: readonly string[]): Promise<number>;
  /** How the last word of a command line can go on. */
  offers(words: readonly string[]): Promise<readonly string[]>;
  /** The text as the person's editor leaves it; undefined if the editor failed. */
  edit(text: string): Promise<string | undefined>;
}

export interface FeedListener {
  onEvent(event: EventView): void;
  onLive(run: RunView): void;
  onConnected(): void;
  onLost(): void;
}
