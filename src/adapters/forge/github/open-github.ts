import type { Forge } from "../../../ports/forge.ts";
import { readRemote } from "../read-remote.ts";
import { chooseTransport, isLoggedIn, tokenFor } from "./choose-transport.ts";
import { createGithubClient, type GithubClient } from "./client.ts";
import { githubForge } from "./github-forge.ts";

export interface GithubSettings {
  /** The host that the rest is about; empty for github.com. */
  readonly host: string;
  /** Empty for the usual place. */
  readonly apiUrl: string;
  /** The variable that has the token; empty for those that gh reads. */
  readonly tokenEnv: string;
}

export interface GithubPorts {
  readonly env: Readonly<Record<string, string | undefined>>;
  now(): number;
}

export type OpenGithub = (address: string, settings: GithubSettings) => Promise<Forge | undefined>;

/**
 * The forge behind the address of a remote; undefined where that is no GitHub, or none that we are let into. A client is
 * kept for each host and token: it remembers answers and limits.
 */
export function createOpenGithub({ env, now }: GithubPorts): OpenGithub {
  const clients = new Map<string, GithubClient>();
  return async (address, settings) => {
    const repository = readRemote(address);
    if (repository === undefined) return undefined;
    const { host } = repository;
    // Anybody can write an address into a repository's remote: a token goes only to the host that it was named for.
    const isNamed = host === (settings.host || "github.com").toLowerCase();
    const named = isNamed && settings.tokenEnv !== "" ? env[settings.tokenEnv] : undefined;
    const apiUrl = isNamed && settings.apiUrl !== "" ? settings.apiUrl : undefined;
    const token = named || tokenFor(host, env);
    const key = JSON.stringify([host, apiUrl, token]);
    const known = clients.get(key);
    if (known !== undefined) return githubForge({ repository, client: known });
    const isLetIn = token !== undefined || (apiUrl === undefined && (await isLoggedIn(host, env)));
    if (!isLetIn) return undefined;
    const client = createGithubClient(await chooseTransport({ host, token, apiUrl, env }), now);
    clients.set(key, client);
    return githubForge({ repository, client });
  };
}
