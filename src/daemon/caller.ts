import { hash as hashed } from "node:crypto";
import type { Clock } from "../ports/clock.ts";
import type { Credential } from "../ports/records.ts";
import type { Store } from "../ports/store.ts";
import { Remembered } from "./remembered.ts";

/** Who asks. */
export type Caller =
  | { readonly kind: "human" }
  | { readonly kind: "run"; readonly credential: Credential; readonly isOver: boolean }
  /** `why` says what was wrong with what was shown. */
  | { readonly kind: "nobody"; readonly why: string };

export interface Callers {
  /** Whose token this is. */
  of(token: string | undefined): Promise<Caller>;
  /** Gives a run its credential; one it had before is over. */
  issue(credential: Omit<Credential, "id" | "revokedAt">, secret: string): Promise<string>;
  /** The run is over: what it shows is not believed any more. */
  revoke(task: string, run: string): Promise<void>;
  /** From now on this is the person's token; the one before is worth nothing. */
  useHuman(token: string): void;
}

/** Thirty agents have thirty credentials; what is beyond is read again. */
const mostCredentials = 1_000;

/** Only the daemon writes credentials, so what was read once is known. */
export function createCallers(store: Store, clock: Clock, humanToken: string): Callers {
  let human = hashOf(humanToken);
  const known = new Remembered<Credential>(mostCredentials);
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
      if (token === undefined) return { kind: "nobody", why: "No credential was shown." };
      const hash = hashOf(token);
      // Hashes of secrets tell nothing about them, so comparing them needs no constant time.
      if (hash === human) return { kind: "human" };
      const credential = await known.read(hash, () => store.credentials.get(hash));
      if (credential === undefined) return { kind: "nobody", why: "The credential is not known." };
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
