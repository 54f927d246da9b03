import { routes } from "../../api/routes.ts";
import { call } from "./client.ts";
import { setDaemonState } from "./daemon-state.ts";
import { keepKey } from "./page-key.ts";

/** Takes the secret of a link that `signalbox web` has printed out of the address, so that it is in no history. */
export function takeLinkSecret(): string | undefined {
  const [, secret] = /^#sign-in=([\w-]+)$/.exec(location.hash) ?? [];
  if (secret !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return secret;
}

/** Exchanges the secret for a session, whose cookie the browser keeps. */
export async function signIn(secret: string): Promise<void> {
  const { key } = await call(routes.openWebSession, { body: { secret } });
  keepKey(key);
  setDaemonState({ isSignedOut: false });
}
