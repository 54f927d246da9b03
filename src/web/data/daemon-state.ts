import { useSyncExternalStore } from "react";

/** What the page knows about its connection to the daemon. */
export interface DaemonState {
  /** connecting: nothing has answered yet. gone: the event stream broke, or a request could not be sent. */
  readonly connection: "connecting" | "live" | "gone";
  readonly isSignedOut: boolean;
  /** The daemon's version; empty until it has answered. */
  readonly version: string;
}

let state: DaemonState = { connection: "connecting", isSignedOut: false, version: "" };
const listeners = new Set<() => void>();

export function daemonState(): DaemonState {
  return state;
}

export function setDaemonState(change: Partial<DaemonState>): void {
  const next = { ...state, ...change };
  if (next.connection === state.connection && next.isSignedOut === state.isSignedOut && next.version === state.version)
    return;
  state = next;
  for (const each of listeners) each();
}

export function useDaemonState(): DaemonState {
  return useSyncExternalStore(subscribe, daemonState);
}

/** Whether changes can be sent now. */
export function useCanAct(): boolean {
  return useDaemonState().connection !== "gone";
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
