import { Fault } from "../../../fault.ts";
import { ghTransport } from "./gh-transport.ts";
import { httpTransport } from "./http-transport.ts";
import { runGh } from "./run-gh.ts";
import { apiUrlOf, type GithubTransport } from "./transport.ts";

export interface TransportChoice {
  readonly host: string;
  /** From the configuration, for this host. */
  readonly token?: string | undefined;
  /** From the configuration, where it is not where it usually is. */
  readonly apiUrl?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A token goes over HTTP; without one `gh` is used where it is logged in; else public repositories can still be read. */
export async function chooseTransport({ host, token, apiUrl, env }: TransportChoice): Promise<GithubTransport> {
  const bearer = token ?? tokenFor(host, env);
  if (!bearer && apiUrl === undefined && (await isLoggedIn(host, env))) return ghTransport({ host, env });
  return httpTransport({ apiUrl: apiUrl ?? apiUrlOf(host), token: bearer });
}

/**
 * The token that the environment has for a host. Anybody can write an address into a repository's remote, so a server of
 * one's own is believed to be one only where the person has named it in GH_HOST.
 */
export function tokenFor(host: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (host === "github.com" || host.endsWith(".ghe.com")) return env.GH_TOKEN || env.GITHUB_TOKEN || undefined;
  if (host !== env.GH_HOST?.toLowerCase()) return undefined;
  return env.GH_ENTERPRISE_TOKEN || env.GITHUB_ENTERPRISE_TOKEN || undefined;
}

/** Whether `gh` has a login for a host. */
export async function isLoggedIn(host: string, env: TransportChoice["env"]): Promise<boolean> {
  try {
    // It looks at what is stored and asks nobody.
    const { code } = await runGh({ host, argv: ["auth", "token", "--hostname", host], env, timeout: 10_000 });
    return code === 0;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}
