import { Fault } from "../../../fault.ts";
import { type GithubRequest, type GithubResponse, type GithubTransport, hideAll, mostBytes } from "./transport.ts";

export interface HttpTransportOptions {
  /** From `apiUrlOf`. */
  readonly apiUrl: string;
  /** Without one, public repositories can be read, slowly. */
  readonly token?: string | undefined;
  /** Milliseconds for a request, with its redirect. */
  readonly timeout?: number;
}

/** Speaks to GitHub over HTTP. */
export function httpTransport({ apiUrl, token, timeout = 30_000 }: HttpTransportOptions): GithubTransport {
  const root = rootOf(apiUrl);
  const bearer = token?.trim();
  checkToken(bearer);
  return {
    apiUrl: root.href.replace(/\/$/, ""),
    howToLogIn: bearer
      ? "Set GH_TOKEN to a token that is valid."
      : "Log in with gh auth login, or set GH_TOKEN to a token.",
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

/** What has another name now is looked up there once, for reading, and nobody else gets to see the token. */
async function follow(
  from: URL,
  { method }: GithubRequest,
  { headers: { location = "" } }: GithubResponse,
  ask: (url: URL) => Promise<GithubResponse>,
): Promise<GithubResponse> {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  const response = method === "GET" && to?.origin === from.origin ? await ask(to) : undefined;
  if (response !== undefined && !isRedirect(response)) return response;
  throw new Fault("forge.renamed", "The repository has another name on GitHub now.", {
    hint: "Use git remote set-url to put the new name into the remote's address.",
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
    // Leaving the loop cancels the rest.
    if (size > mostBytes) throw new Fault("forge.garbled", "The answer of GitHub does not end.", { retry: "later" });
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

/** The token must not travel where others can read it. */
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

/** `fetch` repeats a header that it does not take, so it must not get to see a token that cannot be one. */
function checkToken(token: string | undefined): void {
  if (token === undefined || /^[\x21-\x7e]*$/.test(token)) return;
  throw new Fault("forge.bad-token", "The token for GitHub has characters that no token has.", {
    hint: "Set GH_TOKEN to the token alone, without spaces, quotes or line breaks.",
  });
}

function unreachable({ origin }: URL, timeout: number, error: unknown): Fault {
  const { name, cause } = error as Error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? name;
  const why = name === "TimeoutError" ? `did not answer within ${timeout / 1000} s` : `could not be reached (${code})`;
  return new Fault("forge.unreachable", `GitHub at ${origin} ${why}.`, {
    retry: "later",
    hint: "It is tried again. If that does not help, check the network.",
    cause: error,
  });
}
