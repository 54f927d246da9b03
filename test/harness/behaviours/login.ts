import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ScriptedVendor, startVendor } from "../scripted-vendor.ts";
import { expect, openStage, type Stage } from "../stage.ts";
import { describeTurn, makeTurn } from "../turn.ts";

/**
 * A login that has run out is refreshed in the user's own file, and the next start uses the new one. The vendor accepts
 * each refresh token once, so a refresh that is lost logs the user out.
 */
export async function refreshesLogin({ candidate, path, isConfined }: Stage): Promise<void> {
  const { login } = candidate;
  if (login === undefined) return;
  let vendor: ScriptedVendor | undefined;
  const loggedIn = {
    ...candidate,
    model: login.model ?? candidate.model,
    env(home: string) {
      const authority = join(dirname(home), "bin", "authority.pem");
      const trust = { NODE_EXTRA_CA_CERTS: authority, CODEX_CA_CERTIFICATE: authority };
      return { ...login.env, ...trust, HTTPS_PROXY: vendor?.proxy ?? "", NO_PROXY: "127.0.0.1" };
    },
    seed(home: string, url: string) {
      login.seed?.(home, url);
      mkdirSync(dirname(join(home, login.file)), { recursive: true });
      writeFileSync(join(home, login.file), login.text, { mode: 0o600 });
    },
  };
  const stage = await openStage(loggedIn, path, isConfined);
  let refreshes = 0;
  try {
    vendor = await startVendor(join(stage.root, "bin"), login.hosts, ({ url }) => {
      if (url !== login.refresh) return login.answer(url, stage.server.url);
      return ++refreshes === 1 ? { json: login.refreshed } : { status: 400, json: { error: "invalid_grant" } };
    });
    for (const start of ["first", "next"]) {
      stage.server.add({ say: "Hello." });
      const made = await makeTurn(stage, { prompt: "Greet me." });
      const asked = vendor.requests.map(({ url }) => url).join(" ");
      expect(made.text.includes("Hello."), () => `The ${start} start: ${describeTurn(made)}\n${asked}`);
      expect(refreshes === 1, () => `At the ${start} start the login was refreshed ${refreshes} times.`);
    }
    const kept = readFileSync(join(stage.root, "home", login.file), "utf8");
    expect(kept.includes(login.token), () => `The user's file was not changed: ${kept.slice(0, 500)}`);
    const authorised = [...vendor.requests, ...stage.server.requests].map(({ headers }) => headers.authorization);
    expect(authorised.includes(`Bearer ${login.token}`), () => "The new login was not used.");
  } finally {
    vendor?.close();
    await stage.close();
  }
}
