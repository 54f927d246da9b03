import { Fault } from "../../fault.ts";
import { jsonAt, parseJson, textAt } from "../../json.ts";
import type { ForgeRepository } from "../../ports/forge.ts";
import { oneLine } from "../../text.ts";
import { requiredList } from "./required.ts";

// The client of GitHub's API: a cache of its answers, single requests and paged lists, and the interface of the transport.

/** An answer of GitHub with its etag. A request that finds it unchanged does not count against the rate limit. */
interface KeptAnswer {
  readonly etag: string;
  readonly json: unknown;
  readonly link: string;
}

interface AnswerCache {
  get(path: string): KeptAnswer | undefined;
  put(path: string, answer: KeptAnswer, size: number): void;
  forget(path: string): void;
}

/** Evicts the least recently used answers when the cache is full. */
export function createAnswerCache(maxCharacters = 8 * 1024 * 1024): AnswerCache {
  const kept = new Map<string, { readonly answer: KeptAnswer; readonly size: number }>();
  let total = 0;
  const forget = (path: string) => {
    total -= kept.get(path)?.size ?? 0;
    kept.delete(path);
  };
  const put = (path: string, answer: KeptAnswer, size: number) => {
    forget(path);
    kept.set(path, { answer, size });
    total += size;
    for (const oldest of kept.keys()) {
      if (total <= maxCharacters) return;
      forget(oldest);
    }
  };
  return {
    get(path) {
      const found = kept.get(path);
      if (found !== undefined) put(path, found.answer, found.size);
      return found?.answer;
    },
    put,
    forget,
  };
}

/** Talks to GitHub in JSON, over any transport. An unexpected refusal is a Fault. */
export interface GithubClient {
  get(path: string, options?: GetOptions): Promise<unknown>;
  /** All pages of a list, which is the answer itself or its value under `key`. */
  getAll(path: string, options?: GetOptions & { readonly key?: string }): Promise<readonly unknown[]>;
  /** `expected`: the error statuses that are returned instead of thrown. */
  send(
    method: Exclude<GithubRequest["method"], "GET">,
    path: string,
    body: unknown,
    expected: readonly number[],
  ): Promise<Answer>;
}

interface GetOptions {
  /** Statuses that mean "nothing there"; the answer is then undefined, or an empty list. */
  readonly absent?: readonly number[];
  /** Whether the answer may be cached until its etag changes. */
  keeps?(json: unknown): boolean;
}

interface Answer {
  readonly status: number;
  readonly json: unknown;
  /** GitHub's message, in one line. */
  readonly said: string;
}

// GitHub's maximum page size. A list with more pages than the limit counts as endless.
const pageSize = 100;
const maxPages = 100;

const headers = {
  accept: "application/vnd.github+json",
  "x-github-api-version": "2022-11-28",
  "user-agent": "signalbox",
};

export function createGithubClient(transport: GithubTransport, now: () => number): GithubClient {
  const cache = createAnswerCache();
  let limit: Fault | undefined;
  let limitedUntil = 0;

  /** Sends nothing while a rate limit lasts: GitHub bans clients that keep asking. */
  async function carry(request: GithubRequest): Promise<GithubResponse> {
    if (limit !== undefined && now() < limitedUntil) throw limit;
    const response = await transport.send(request);
    const until = limitOf(response, now());
    if (until === undefined) return response;
    limitedUntil = until;
    limit = limited(response, until, transport);
    throw limit;
  }

  async function fetchPage(path: string, { absent = [], keeps = () => true }: GetOptions) {
    const kept = cache.get(path);
    const conditions = kept === undefined ? {} : { "if-none-match": kept.etag };
    const request = { method: "GET", path, headers: { ...headers, ...conditions }, body: undefined } as const;
    const response = await carry(request);
    if (kept !== undefined && response.status === 304) return kept;
    if (absent.includes(response.status)) return undefined;
    if (response.status !== 200) throw faultOf(request, response, transport);
    const page = { etag: response.headers.etag ?? "", json: parse(response.body), link: response.headers.link ?? "" };
    if (page.etag !== "" && keeps(page.json)) cache.put(path, page, response.body.length);
    else cache.forget(path);
    return page;
  }

  return {
    get: async (path, options = {}) => (await fetchPage(path, options))?.json,

    async getAll(path, { key, ...options } = {}) {
      const items: unknown[] = [];
      const seen = new Set<string>();
      let next: string | undefined = `${path}${path.includes("?") ? "&" : "?"}per_page=${pageSize}`;
      while (next !== undefined) {
        if (seen.has(next) || seen.size === maxPages) throw endless(path);
        seen.add(next);
        const page = await fetchPage(next, options);
        if (page === undefined) return items;
        const found = key === undefined ? requiredList(page.json) : requiredList(page.json, key);
        items.push(...found);
        const after = nextPage(page.link, transport.apiUrl);
        // The etag of a full last page does not change when another page follows.
        if (after === undefined && found.length >= pageSize) cache.forget(next);
        next = after;
      }
      return items;
    },

    async send(method, path, body, expected) {
      const written = body === undefined ? undefined : JSON.stringify(body);
      const type = written === undefined ? {} : { "content-type": "application/json" };
      const request = { method, path, headers: { ...headers, ...type }, body: written };
      const response = await carry(request);
      const isFine = response.status >= 200 && response.status < 300;
      if (!isFine && !expected.includes(response.status)) throw faultOf(request, response, transport);
      const json = response.body === "" ? undefined : parse(response.body);
      return { status: response.status, json, said: transport.hide(saidIn(response.body)) };
    },
  };
}

function parse(body: string): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    throw new Fault("forge.garbled", "GitHub's answer is not valid JSON.", {
      retry: "later",
      hint: "Signalbox retries. If it keeps failing, the address of the API may be wrong.",
      cause: error,
    });
  }
}

function endless(path: string): Fault {
  return new Fault("forge.garbled", `GitHub's list ${path} does not end.`);
}

/** Why GitHub refused a request, and what helps. */
function faultOf(request: GithubRequest, response: GithubResponse, transport: GithubTransport): Fault {
  const { status } = response;
  const said = transport.hide(saidIn(response.body));
  const answer = `(${status}${said === "" ? "" : `: ${said}`})`;
  const where = `GitHub at ${new URL(transport.apiUrl).host}`;
  const [path = ""] = request.path.split("?");
  if (status >= 500 || status === 408)
    return new Fault("forge.unreachable", `${where} failed ${answer}.`, { retry: "later", hint: "Signalbox retries." });
  if (status === 401)
    return new Fault("forge.unauthorized", `${where} does not accept the token ${answer}.`, {
      hint: transport.howToLogIn,
    });
  if (status === 403)
    return new Fault("forge.forbidden", `${where} does not allow ${request.method} ${path} ${answer}.`, {
      hint: permissionHint(response) ?? "Check that the account may do this, and that the repository is not archived.",
    });
  if (status === 404)
    return new Fault("forge.missing", `${where} has no ${path}, or hides it from this account ${answer}.`, {
      hint:
        permissionHint(response) ??
        `Check the remote's address, and that the account may see the repository. ${transport.howToLogIn}`,
    });
  return new Fault("forge.invalid", `${where} does not accept ${request.method} ${path} ${answer}.`);
}

/** GitHub names the missing permission in headers. */
function permissionHint({ headers }: GithubResponse): string | undefined {
  const [, sso] = /url=([^;,\s]+)/.exec(headers["x-github-sso"] ?? "") ?? [];
  if (sso !== undefined) return `The organisation requires single sign-on: authorise the token at ${sso}`;
  const permissions = headers["x-accepted-github-permissions"];
  if (permissions) return `The token needs the permission ${permissions.replaceAll(";", " or")}.`;
  const [has, needs] = [scopesIn(headers["x-oauth-scopes"]), scopesIn(headers["x-accepted-oauth-scopes"])];
  if (headers["x-oauth-scopes"] === undefined || needs.length === 0 || needs.some((scope) => has.includes(scope)))
    return undefined;
  const owned = has.length === 0 ? "no scope" : `the scope ${has.join(", ")}`;
  return `The token needs the scope ${needs.join(" or ")}, but has ${owned}.`;
}

function scopesIn(header: string | undefined): readonly string[] {
  return (header ?? "").split(/,\s*/).filter((scope) => scope !== "");
}

// A limit for every wait: a person may have solved the problem in the meantime.
const maxWait = 24 * 3_600_000;

/** Until when GitHub refuses requests; undefined if the answer is not about a rate limit. */
function limitOf(response: GithubResponse, now: number): number | undefined {
  const wait = waitIn(response, now);
  return wait === undefined ? undefined : now + Math.min(Math.max(1_000, wait), maxWait);
}

function waitIn({ status, headers, body }: GithubResponse, now: number): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  // GitHub's own clock counts, which may differ from ours.
  const theirs = Date.parse(headers.date ?? "") || now;
  const after = headers["retry-after"] ?? "";
  if (/^\d+$/.test(after)) return Number(after) * 1_000;
  if (Date.parse(after) > 0) return Date.parse(after) - theirs;
  const reset = Number(headers["x-ratelimit-reset"]) * 1_000;
  if (headers["x-ratelimit-remaining"] === "0" && reset > 0) return reset - theirs;
  return status === 429 || /rate limit|abuse/i.test(saidIn(body)) ? 60_000 : undefined;
}

function limited(response: GithubResponse, until: number, { apiUrl, hide }: GithubTransport): Fault {
  const time = new Date(until).toISOString();
  const said = hide(saidIn(response.body));
  return new Fault(
    "forge.limited",
    `GitHub at ${new URL(apiUrl).host} accepts no more requests until ${time} (${response.status}${said === "" ? "" : `: ${said}`}).`,
    { retry: "later", hint: `Signalbox retries after ${time}.`, cause: { retryAt: until } },
  );
}

/** The path of the next page of a list, from the Link header; undefined on the last page. */
export function nextPage(link: string, apiUrl: string): string | undefined {
  const next = [...link.matchAll(/<([^>]*)>([^<]*)/g)].find(([, , about = ""]) => /;\s*rel="?next"?/.test(about))?.[1];
  if (next === undefined) return undefined;
  // The token is sent with the request, so the address must be on the same API.
  if (next.startsWith(`${apiUrl}/`)) return next.slice(apiUrl.length + 1);
  throw new Fault("forge.garbled", "The next page of GitHub's list is not below its API.", {
    hint: "Check the address of the API.",
  });
}

/** A path inside a repository. Segments are encoded, so that none can lead to another path. */
export function pathOf({ owner, name }: ForgeRepository, ...segments: readonly (string | number)[]): string {
  return ["repos", owner, name, ...segments].map((segment) => encoded(String(segment))).join("/");
}

function encoded(segment: string): string {
  // URL parsers resolve "." and "..", which would change the path.
  if (segment === "" || segment === "." || segment === "..")
    throw new Fault("forge.invalid", `"${segment}" is not a valid part of a name on GitHub.`);
  return encodeURIComponent(segment);
}

/** GitHub's own message in an answer, in one line; empty if the answer is not JSON. */
function saidIn(body: string): string {
  try {
    return collect(parseJson(body));
  } catch {
    return "";
  }
}

function collect(json: unknown): string {
  const errors = jsonAt(json, "errors");
  const details = (Array.isArray(errors) ? errors : []).map((error) =>
    typeof error === "string" ? error : textAt(error, "message") || describeField(error),
  );
  const said = [textAt(json, "message"), ...details].filter((part) => part !== "");
  return oneLine(said.join(" "), 500);
}

function describeField(error: unknown): string {
  const field = textAt(error, "field");
  return field === "" ? "" : `"${field}" is ${textAt(error, "code") || "wrong"}.`;
}

/** Sends one request to GitHub and returns the answer with any status. Faults are about the connection only. */
export interface GithubTransport {
  /** The root of all paths: `https://api.github.com`. */
  readonly apiUrl: string;
  /** A sentence that tells a person how to log in. */
  readonly howToLogIn: string;
  send(request: GithubRequest): Promise<GithubResponse>;
  /** Removes secrets from a text: servers often repeat what they were sent. */
  hide(text: string): string;
}

export interface GithubRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to the root of the API, without a leading slash, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string | undefined;
}

export interface GithubResponse {
  readonly status: number;
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** More than the largest page; an endless answer must not fill the memory. */
export const maxBytes = 32 * 1024 * 1024;

/** The root of a host's API. */
export function apiUrlOf(host: string): string {
  if (host === "github.com") return "https://api.github.com";
  return host.endsWith(".ghe.com") ? `https://api.${host}` : `https://${host}/api/v3`;
}

/** Removes these secrets from a text. */
export function hideAll(secrets: readonly (string | undefined)[]): (text: string) => string {
  const hidden = secrets.filter((secret) => secret !== undefined && secret.length > 2) as readonly string[];
  return (text) => hidden.reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
}
