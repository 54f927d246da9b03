import { Fault } from "../../../fault.ts";
import { createAnswerCache } from "./answer-cache.ts";
import { faultOf } from "./fault-of.ts";
import { listAt } from "./json-at.ts";
import { limited, limitOf } from "./limit-of.ts";
import { nextPage } from "./next-page.ts";
import { saidIn } from "./said-in.ts";
import type { GithubRequest, GithubResponse, GithubTransport } from "./transport.ts";

/** Speaks with GitHub in JSON, over any transport. What is refused, and not expected to be, is a Fault. */
export interface GithubClient {
  get(path: string, options?: GetOptions): Promise<unknown>;
  /** All pages of a list, which is the answer itself or what it has under a key. */
  getAll(path: string, options?: GetOptions & { readonly key?: string }): Promise<readonly unknown[]>;
  /** `expected` are the refusals that the caller wants to see. */
  send(
    method: Exclude<GithubRequest["method"], "GET">,
    path: string,
    body: unknown,
    expected: readonly number[],
  ): Promise<Answer>;
}

export interface GetOptions {
  /** Statuses that mean that there is nothing for us; the answer is then undefined, or no items. */
  readonly absent?: readonly number[];
  /** Whether the answer may be kept for as long as GitHub says that it is still the same. */
  keeps?(json: unknown): boolean;
}

export interface Answer {
  readonly status: number;
  readonly json: unknown;
  /** What GitHub says about it, in one line. */
  readonly said: string;
}

// As many as GitHub gives. A list of more pages is none that we know what to do with.
const pageSize = 100;
const mostPages = 100;

const headers = {
  accept: "application/vnd.github+json",
  "x-github-api-version": "2022-11-28",
  "user-agent": "signalbox",
};

export function createGithubClient(transport: GithubTransport, now: () => number): GithubClient {
  const cache = createAnswerCache();
  let limit: Fault | undefined;
  let limitedUntil = 0;

  /** While a limit lasts nothing is sent: GitHub bans who goes on asking. */
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
        if (seen.has(next) || seen.size === mostPages) throw endless(path);
        seen.add(next);
        const page = await fetchPage(next, options);
        if (page === undefined) return items;
        const found = key === undefined ? listAt(page.json) : listAt(page.json, key);
        items.push(...found);
        const after = nextPage(page.link, transport.apiUrl);
        // A last page that is full stays the same when one more follows.
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
    return JSON.parse(body);
  } catch (error) {
    throw new Fault("forge.garbled", "The answer of GitHub is not valid JSON.", {
      retry: "later",
      hint: "It is tried again. If that does not help, the address of the API may be wrong.",
      cause: error,
    });
  }
}

function endless(path: string): Fault {
  return new Fault("forge.garbled", `The list ${path} of GitHub does not end.`);
}
