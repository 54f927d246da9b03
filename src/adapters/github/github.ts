import { Fault } from "../../fault.ts";
import type { Forge, ForgeRepository } from "../../ports/forge.ts";
import { apiUrlOf, createGithubClient, type GithubClient } from "./client.ts";
import { githubTickets } from "./issues.ts";
import {
  deleteBranch,
  findPullRequests,
  getPull,
  mergePullRequest,
  openPullRequest,
  readPullRequest,
  statusOf,
} from "./pull-requests.ts";
import { commentsSince, writeComment } from "./reviews.ts";
import { ghToken, httpTransport, tokenFor } from "./transport.ts";

interface GithubForgeOptions {
  readonly repository: ForgeRepository;
  /** Shared by all repositories of a host: it caches answers and remembers rate limits. */
  readonly client: GithubClient;
}

/** GitHub, and GitHub Enterprise. */
export function githubForge({ repository, client }: GithubForgeOptions): Forge {
  return {
    openPullRequest: (wanted) => openPullRequest(client, repository, wanted),
    async findPullRequest(head) {
      const found = await findPullRequests(client, repository, head, "all");
      return found.find(({ state }) => state === "open") ?? found[0];
    },
    getPullRequest: async (number) => readPullRequest(await getPull(client, repository, number)),
    statusOf: (number) => statusOf(client, repository, number),
    commentsSince: (number, position) => commentsSince(client, repository, number, position),
    comment: (number, text, key) => writeComment(client, repository, { number, text, key }),
    merge: (number, options) => mergePullRequest(client, repository, number, options),
    ticketsWith: (label) => githubTickets(client, repository, label),
    deleteBranch: (name, expectedCommit) => deleteBranch(client, repository, name, expectedCommit),
  };
}

interface GithubSettings {
  /** The host of these settings; empty for github.com. */
  readonly host: string;
  /** Empty for the host's default. */
  readonly apiUrl: string;
  /** The variable with the token; empty for the variables that gh reads, then the token of gh's login. */
  readonly tokenEnv: string;
}

interface GithubPorts {
  readonly env: Readonly<Record<string, string | undefined>>;
  now(): number;
}

type OpenGithub = (address: string, settings: GithubSettings) => Promise<Forge | undefined>;

/**
 * The forge behind the address of a remote; undefined if that is not GitHub, or there is no token for it. A client is
 * cached per host and token, with its answers and limits, until GitHub refuses the token. If the configuration names a
 * variable for the token, a missing variable is a fault: a daemon that an agent has started must not silently work
 * without the forge.
 */
export function createOpenGithub({ env, now }: GithubPorts): OpenGithub {
  const clients = new Map<string, GithubClient>();
  return async (address, settings) => {
    const repository = readRemote(address);
    if (repository === undefined) return undefined;
    const { host } = repository;
    // A remote may contain any address: a token goes only to the host that the user named for it.
    const isNamed = host === (settings.host || "github.com").toLowerCase();
    const named = isNamed && settings.tokenEnv !== "" ? env[settings.tokenEnv] : undefined;
    const apiUrl = isNamed && settings.apiUrl !== "" ? settings.apiUrl : undefined;
    const own = named || tokenFor(host, env);
    const key = JSON.stringify([host, apiUrl, own]);
    const known = clients.get(key);
    if (known !== undefined) return githubForge({ repository, client: known });
    const token = own ?? (await ghToken(host, env));
    if (token === undefined && isNamed && settings.tokenEnv !== "") throw noToken(settings.tokenEnv, host);
    if (token === undefined) return undefined;
    const howToLogIn = own === undefined ? `Log in again: gh auth login --hostname ${host}` : undefined;
    const transport = httpTransport({ apiUrl: apiUrl ?? apiUrlOf(host), token, howToLogIn });
    const send: typeof transport.send = async (request) => {
      const response = await transport.send(request);
      // The user may log in again; then gh has another token.
      if (response.status === 401) clients.delete(key);
      return response;
    };
    const client = createGithubClient({ ...transport, send }, now);
    clients.set(key, client);
    return githubForge({ repository, client });
  };
}

function noToken(variable: string, host: string): Fault {
  return new Fault("forge.no-token", `The daemon's environment lacks ${variable}, the token for ${host}.`, {
    retry: "later",
    hint: `Start the daemon where ${variable} is set: signalbox down && signalbox up. Or name another: signalbox config set forge_token_env NAME`,
  });
}

/**
 * The repository behind the address of a remote; undefined if it is not on a forge, such as a folder. Credentials in
 * the address are dropped.
 */
export function readRemote(address: string): ForgeRepository | undefined {
  const written = address.trim();
  const found = written.includes("://") ? readUrl(written) : readScp(written);
  const [, owner, name] = found === undefined ? [] : (ownerAndName.exec(found.path) ?? []);
  if (found === undefined || owner === undefined || name === undefined || /^\.+(git)?$/.test(name)) return undefined;
  return { host: hosts[found.host] ?? found.host, owner, name };
}

const ownerAndName = /^\/*([A-Za-z0-9][\w-]*)\/([\w.-]+?)(?:\.git)?\/*$/;

/** Other host names of GitHub; the first is for networks that allow only port 443. */
const hosts: Readonly<Record<string, string>> = { "ssh.github.com": "github.com", "www.github.com": "github.com" };

interface Found {
  readonly host: string;
  readonly path: string;
}

function readUrl(written: string): Found | undefined {
  if (!URL.canParse(written)) return undefined;
  const { protocol, hostname, host, pathname } = new URL(written);
  if (protocol === "https:" || protocol === "http:") return { host: host.toLowerCase(), path: pathname };
  if (!/^(git\+)?ssh:$|^git:$/.test(protocol) || hostname === "") return undefined;
  // The port is the ssh server's, and says nothing about the API.
  return { host: hostname.toLowerCase(), path: pathname };
}

/** `git@github.com:owner/name.git`. A single letter before the colon is a Windows drive. */
function readScp(written: string): Found | undefined {
  const [, host, path] = /^(?:[^@/\\]+@)?([A-Za-z0-9][A-Za-z0-9.-]+):([^:\\]+)$/.exec(written) ?? [];
  return host === undefined || path === undefined ? undefined : { host: host.toLowerCase(), path };
}
