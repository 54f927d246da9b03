import { hash as hashed } from "node:crypto";
import { writeAgentsAtWork } from "../home/agents-at-work.ts";
import type { Places } from "../home/places.ts";
import type { Credential, WebKey } from "../ports/records.ts";
import type { Store } from "../ports/store.ts";
import type { Clock } from "../ports/system.ts";
import { StoreCache } from "./store-cache.ts";

interface AgentPorts {
  readonly store: Store;
  readonly places: Places;
}

/** Publishes the processes and folders of agents: the command line must know them before it acts for a person. */
export async function publishAgents({ store, places }: AgentPorts): Promise<void> {
  const runs = (await store.liveRuns()).filter(({ pid }) => pid > 0);
  const workspaces = (await store.workspaces.list({})).filter(({ task }) => task !== "");
  writeAgentsAtWork(places, { folders: workspaces.map(({ path }) => path), pids: runs.map(({ pid }) => pid) });
}

/** A task is over: revokes the credentials of its runs, and returns folders that were lent to it. */
export async function forgetAgents(
  { store, places, callers, clock }: AgentPorts & { callers: Callers; clock: Clock },
  task: string,
): Promise<void> {
  const runs = await store.runs.list({ task });
  if (runs.length === 0) return;
  for (const run of runs) {
    await callers.revoke(task, run.key);
    if (run.endedAt === undefined) await store.runs.put({ ...run, endedAt: clock.now() });
  }
  for (const { id, kind } of await store.workspaces.list({ task })) {
    if (kind === "folder") await store.workspaces.remove(id);
  }
  await publishAgents({ store, places });
}

/** The caller of a request. */
export type Caller =
  /** `session`: of a person at a browser. */
  | { readonly kind: "human"; readonly session?: WebKey }
  | { readonly kind: "run"; readonly credential: Credential; readonly isOver: boolean }
  /** `why` says what was wrong with the credential. */
  | { readonly kind: "nobody"; readonly why: string };

export interface Callers {
  /** The caller with this token. */
  of(token: string | undefined): Promise<Caller>;
  /** Gives a run its credential; an earlier one is revoked. */
  issue(credential: Omit<Credential, "id" | "revokedAt">, secret: string): Promise<string>;
  /** The run is over: its credential is revoked. */
  revoke(task: string, run: string): Promise<void>;
  /** Replaces the person's token; the earlier one is invalid from now on. */
  useHuman(token: string): void;
}

/** Thirty agents have thirty credentials; beyond this limit they are read again. */
const maxCredentials = 1_000;

/** Only the daemon writes credentials, so they are cached. */
export function createCallers(store: Store, clock: Clock, humanToken: string): Callers {
  let human = hashOf(humanToken);
  const known = new StoreCache<Credential>(maxCredentials);
  const put = (credential: Credential) =>
    known.write(
      credential.id,
      () => store.credentials.put(credential),
      () => credential,
    );
  const revoke = async (task: string, run: string) => {
    for (const each of await store.credentials.list({ task })) {
      if (each.run === run && each.revokedAt === undefined) await put({ ...each, revokedAt: clock.now() });
    }
  };
  return {
    async of(token) {
      if (token === undefined) return { kind: "nobody", why: "No credential was sent." };
      const hash = hashOf(token);
      // A hash reveals nothing about its secret, so the comparison needs no constant time.
      if (hash === human) return { kind: "human" };
      const credential = await known.read(hash, () => store.credentials.get(hash));
      if (credential === undefined) return { kind: "nobody", why: "The credential is unknown." };
      const isOver = credential.revokedAt !== undefined || credential.expiresAt <= clock.now();
      return { kind: "run", credential, isOver };
    },
    async issue(credential, secret) {
      await revoke(credential.task, credential.run);
      const token = `sbr_${secret}`;
      await put({ ...credential, id: hashOf(token), revokedAt: undefined });
      return token;
    },
    revoke,
    useHuman(token) {
      human = hashOf(token);
    },
  };
}

function hashOf(token: string): string {
  return hashed("sha256", token);
}
