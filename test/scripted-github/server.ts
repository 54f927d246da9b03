import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answer, createGithubState, type GithubState, type Reply } from "./answer.ts";

/** A GitHub with one repository, which does what it is told, also badly. */
export interface ScriptedGithub {
  /** The root of its API. */
  readonly url: string;
  readonly state: GithubState;
  /** Everything it was asked, the oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** The next requests that fit meet with this. */
  failNext(mishap: Mishap): void;
  /** Forgets what it was asked, and all mishaps. */
  forget(): void;
  close(): Promise<void>;
}

export interface RecordedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** What it was answered; 0 where it was not. */
  readonly status: number;
}

export interface Mishap {
  /**
   * `answer`: this and nothing else. `slow`: the answer never comes. `truncated`: it stops in the middle. `malformed`: it
   * is no JSON. `hang-up`: the line is cut at once. `lost`: the request is carried out, then the line is cut.
   */
  readonly kind: "answer" | "slow" | "truncated" | "malformed" | "hang-up" | "lost";
  /** Compared with `GET /repos/…`; every request where it is missing. */
  readonly on?: RegExp;
  readonly times?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly message?: string;
  /** Instead of a message. */
  readonly json?: unknown;
}

/** Listens on this machine alone, and believes who shows this token. */
export async function startScriptedGithub({ token }: { readonly token: string }): Promise<ScriptedGithub> {
  const state = createGithubState();
  const requests: RecordedRequest[] = [];
  let mishaps: Mishap[] = [];

  function nextMishap(line: string): Mishap | undefined {
    const index = mishaps.findIndex(({ on }) => on === undefined || on.test(line));
    const found = mishaps[index];
    if (found === undefined) return undefined;
    const times = (found.times ?? 1) - 1;
    mishaps = mishaps.toSpliced(index, 1, ...(times > 0 ? [{ ...found, times }] : []));
    return found;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    const { method = "", url = "", headers } = request;
    const mishap = nextMishap(`${method} ${url}`);
    const isDone = mishap === undefined || mishap.kind === "lost" || mishap.kind === "truncated";
    const asked = { method, url: new URL(url, address()), token: headers.authorization === `Bearer ${token}`, body };
    const reply = isDone ? replyTo(state, asked) : { status: mishap.status ?? 0, headers: {}, text: "" };
    const isSame = reply.headers.etag !== undefined && headers["if-none-match"] === reply.headers.etag;
    const status = isSame ? 304 : reply.status;
    requests.push({ method, path: url, headers, body, status: isDone ? status : (mishap.status ?? 0) });
    if (mishap !== undefined) return fail(response, mishap, reply.text);
    // What is still the same says nothing about other pages.
    const { link: _, ...same } = reply.headers;
    response.writeHead(status, {
      ...(isSame ? same : reply.headers),
      "content-type": "application/json; charset=utf-8",
    });
    response.end(isSame || status === 204 ? undefined : reply.text);
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: address(),
    state,
    requests,
    failNext: (mishap) => void mishaps.push(mishap),
    forget() {
      requests.length = 0;
      mishaps = [];
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Asked {
  readonly method: string;
  readonly url: URL;
  /** Whether the right one was shown. */
  readonly token: boolean;
  readonly body: string;
}

interface WrittenReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

function replyTo(state: GithubState, { method, url, token, body }: Asked): WrittenReply {
  if (!token) return written({ status: 401, json: { message: "Bad credentials" } });
  // The token of an app has no user.
  if (url.pathname === "/user")
    return state.account.endsWith("[bot]")
      ? written({ status: 403, json: { message: "Resource not accessible by integration" } })
      : written({ status: 200, json: { login: state.account } });
  const [, byName, byId] = /^\/(?:repos\/([^/]+\/[^/]+)|repositories\/(1))(?:\/|$)/.exec(url.pathname) ?? [];
  const path = url.pathname
    .split("/")
    .slice(byId === undefined ? 4 : 3)
    .join("/");
  if (byName === `${state.owner}/old-name`) {
    // Reading goes on elsewhere with 301, writing with 307.
    const location = new URL(`/repositories/1/${path}${url.search}`, url).href;
    return { ...written({ status: method === "GET" ? 301 : 307, json: {} }), headers: { location } };
  }
  if (byId === undefined && byName !== `${state.owner}/${state.name}`)
    return written({ status: 404, json: { message: "Not Found" } });
  const reply = answer(state, { method, path, query: url.searchParams, body: body === "" ? {} : JSON.parse(body) });
  return reply.list === undefined ? written(reply) : page(reply, url);
}

/** One page of a list, and where the others are. */
function page({ list = [], key }: Reply, url: URL): WrittenReply {
  const size = Math.min(100, Number(url.searchParams.get("per_page") ?? 30));
  const number = Number(url.searchParams.get("page") ?? 1);
  const last = Math.max(1, Math.ceil(list.length / size));
  const linkTo = (to: number, name: string) => {
    const target = new URL(url);
    target.searchParams.set("page", String(to));
    return `<${target.href}>; rel="${name}"`;
  };
  const before = number > 1 ? [linkTo(number - 1, "prev"), linkTo(1, "first")] : [];
  const after = number < last ? [linkTo(number + 1, "next"), linkTo(last, "last")] : [];
  const items = list.slice((number - 1) * size, number * size);
  const reply = written({ status: 200, json: key === undefined ? items : { total_count: list.length, [key]: items } });
  const links = [...before, ...after];
  return links.length === 0 ? reply : { ...reply, headers: { ...reply.headers, link: links.join(", ") } };
}

function written({ status, json }: Reply): WrittenReply {
  const text = json === undefined ? "" : JSON.stringify(json);
  const etag = `W/"${createHash("sha256").update(text).digest("hex").slice(0, 16)}"`;
  return { status, headers: status === 200 ? { etag } : {}, text };
}

function fail(response: ServerResponse, mishap: Mishap, text: string): void {
  const { kind, status = 200, headers = {}, message, json = message === undefined ? undefined : { message } } = mishap;
  if (kind === "slow") return;
  if (kind === "hang-up" || kind === "lost") return void response.destroy();
  const type = { "content-type": "application/json", ...headers };
  if (kind === "malformed") return void response.writeHead(status, type).end('{"number": 1, "ht');
  if (kind === "answer")
    return void response.writeHead(status, type).end(json === undefined ? "" : JSON.stringify(json));
  response.writeHead(status, { ...type, "content-length": text.length + 100 });
  response.write(text, () => response.destroy());
}
