import { execFile } from "node:child_process";
import { Fault } from "../../fault.ts";
import { type GithubRequest, type GithubResponse, type GithubTransport, hideAll, maxBytes } from "./client.ts";

export interface HttpTransportOptions {
  /** From `apiUrlOf`. */
  readonly apiUrl: string;
  /** Without a token only public repositories can be read, with a low rate limit. */
  readonly token?: string | undefined;
  /** A sentence for a person whose token is refused. */
  readonly howToLogIn?: string | undefined;
  /** Milliseconds for a request, with its redirect. */
  readonly timeout?: number;
}

/** Sends requests to GitHub over HTTP. */
export function httpTransport({ apiUrl, token, howToLogIn, timeout = 30_000 }: HttpTransportOptions): GithubTransport {
  const root = rootOf(apiUrl);
  const bearer = token?.trim();
  checkToken(bearer);
  return {
    apiUrl: root.href.replace(/\/$/, ""),
    howToLogIn:
      howToLogIn ??
      (bearer ? "Set GH_TOKEN to a valid token." : "Log in with gh auth login, or set GH_TOKEN to a token."),
    hide: hideAll([bearer]),
    async send(request) {
      const signal = AbortSignal.timeout(timeout);
      const headers = { ...request.headers, ...(bearer ? { authorization: `Bearer ${bearer}` } : {}) };
      const ask = (url: URL) =>
        exchange(url, { ...request, headers }, signal).catch((error: unknown) => {
          throw error instanceof Fault ? error : unreachable(root, timeout, error);
        });
      const url = new URL(request.path, root);
      const response = await ask(url);
      return isRedirect(response) ? follow(url, request, response, ask) : response;
    },
  };
}

/** Follows one redirect of a renamed repository, for reads only. The token is never sent to another server. */
async function follow(
  from: URL,
  { method }: GithubRequest,
  { headers: { location = "" } }: GithubResponse,
  ask: (url: URL) => Promise<GithubResponse>,
): Promise<GithubResponse> {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  const response = method === "GET" && to?.origin === from.origin ? await ask(to) : undefined;
  if (response !== undefined && !isRedirect(response)) return response;
  throw new Fault("forge.renamed", "The repository was renamed on GitHub.", {
    hint: "Put the new name into the remote's address with git remote set-url.",
  });
}

async function exchange(url: URL, request: GithubRequest, signal: AbortSignal): Promise<GithubResponse> {
  const { method, headers, body = null } = request;
  const response = await fetch(url, { method, headers, body, signal, redirect: "manual" });
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    parts.push(part);
    size += part.length;
    // Leaving the loop cancels the download.
    if (size > maxBytes) throw new Fault("forge.garbled", "GitHub's answer does not end.", { retry: "later" });
  }
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: new TextDecoder().decode(Buffer.concat(parts)),
  };
}

function isRedirect({ status }: GithubResponse): boolean {
  return status === 301 || status === 302 || status === 307 || status === 308;
}

/** The token must not be sent unencrypted over a network. */
function rootOf(apiUrl: string): URL {
  const root = URL.canParse(apiUrl) ? new URL(apiUrl.replace(/\/*$/, "/")) : undefined;
  const isLocal = root !== undefined && ["127.0.0.1", "localhost", "[::1]"].includes(root.hostname);
  const isSafe = root?.protocol === "https:" || (root?.protocol === "http:" && isLocal);
  if (root === undefined || !isSafe || root.username !== "" || root.password !== "" || root.search !== "")
    throw new Fault("forge.bad-url", "The address of GitHub's API is not an https URL without credentials.", {
      hint: "Write it like https://github.example.org/api/v3.",
    });
  return root;
}

/** Checked before `fetch` sees it: the error of `fetch` about an invalid header contains the header. */
function checkToken(token: string | undefined): void {
  if (token === undefined || /^[\x21-\x7e]*$/.test(token)) return;
  throw new Fault("forge.bad-token", "The token for GitHub contains characters that are not allowed in a token.", {
    hint: "Set GH_TOKEN to the token only, without spaces, quotes or line breaks.",
  });
}

function unreachable({ origin }: URL, timeout: number, error: unknown): Fault {
  const { name, cause } = error as Error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? name;
  const why = name === "TimeoutError" ? `did not answer within ${timeout / 1000} s` : `could not be reached (${code})`;
  return new Fault("forge.unreachable", `GitHub at ${origin} ${why}.`, {
    retry: "later",
    hint: "Signalbox retries. If it keeps failing, check the network.",
    cause: error,
  });
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The token for a host from the environment. A repository's remote may contain any address, so another server gets a
 * token only if the user has named it in GH_HOST.
 */
export function tokenFor(host: string, env: Environment): string | undefined {
  if (host === "github.com" || host.endsWith(".ghe.com")) return env.GH_TOKEN || env.GITHUB_TOKEN || undefined;
  if (host !== env.GH_HOST?.toLowerCase()) return undefined;
  return env.GH_ENTERPRISE_TOKEN || env.GITHUB_ENTERPRISE_TOKEN || undefined;
}

/**
 * The token of the user's login with the GitHub CLI. Undefined if `gh` is missing, is not logged in to the host, or
 * does not answer in time. `gh` reads its configuration or the keyring, and does not use the network.
 */
export function ghToken(host: string, env: Environment, timeout = 10_000): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = execFile(
      "gh",
      ["auth", "token", "--hostname", host],
      { cwd: "/", env: environmentOf(env), timeout, killSignal: "SIGKILL", maxBuffer: maxToken },
      (error, stdout) => resolve(error === null ? stdout.trim() || undefined : undefined),
    );
    // `gh` may end without reading its input.
    child.stdin?.on("error", () => {});
    child.stdin?.end();
  });
}

const maxToken = 16 * 1024;

/**
 * The variables that gh needs to find the user's login, and no others. No tokens: gh would print GH_ENTERPRISE_TOKEN
 * for every host but GitHub's own, and a repository's remote may contain any host.
 */
const needed =
  /^(PATH|HOME|USER|LANG|XDG_(CONFIG|STATE|DATA|CACHE)_HOME|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS|GH_CONFIG_DIR)$/;

function environmentOf(env: Environment): Record<string, string> {
  const seen = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && needed.test(name) ? [[name, value] as const] : [],
  );
  // No prompts, no colours, no notices about updates.
  return { ...Object.fromEntries(seen), NO_COLOR: "1", GH_PROMPT_DISABLED: "1", GH_NO_UPDATE_NOTIFIER: "1" };
}
