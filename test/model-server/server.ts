import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { type JsonObject, objectOf, textOf } from "../../src/json.ts";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openaiChat, openaiResponses } from "./openai.ts";

/** What a model answers, in no vendor's words. Where nothing is said it is one short text. */
export interface Answer {
  readonly say?: string;
  readonly calls?: readonly ToolCall[];
  readonly usage?: ScriptedUsage;
  /** It will not. */
  readonly refuses?: boolean;
  /** Instead of an answer. */
  readonly error?: ScriptedError;
  /** Milliseconds before anything is sent. */
  readonly delay?: number;
  /** `hang`: nothing ever comes. `cut`: the line is cut in the middle of the answer. */
  readonly mishap?: "hang" | "cut";
}

export interface ToolCall {
  readonly name: string;
  /** An object, or a text where the tool takes any text. */
  readonly input: unknown;
  /** Where the wire has namespaces of tools (`mcp__fk`). */
  readonly namespace?: string;
}

export interface ScriptedUsage {
  /** Without what came from the cache, whatever the vendor counts there. */
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

/** Each is written as its vendor writes it: status, body and headers. */
export interface ScriptedError {
  readonly kind: "rate-limit" | "authentication" | "server" | "overloaded" | "overflow";
  readonly message?: string;
  /** Seconds. */
  readonly retryAfter?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer as it is sent: everything is decided. */
export interface FullAnswer {
  /** Where it is more than one, they are sent one after the other. */
  readonly pieces: readonly string[];
  readonly calls: readonly (ToolCall & { readonly id: string })[];
  readonly usage: ScriptedUsage;
  readonly refuses: boolean;
  /** Differs from answer to answer. */
  readonly id: string;
}

/** What a request says, in no vendor's words. */
export interface Asked {
  readonly model: string;
  readonly system: string;
  /** Names; those in a namespace as `namespace.name`. */
  readonly tools: readonly string[];
  /** Everything that was said in the part of the user so far, the oldest first, with what the program itself put there. */
  readonly userTexts: readonly string[];
  /** What tools gave, the oldest first. */
  readonly toolResults: readonly string[];
  /** Whose conversation it is, where the program tells; else empty. */
  readonly conversation: string;
  /** What the answer must fit; undefined where any text will do. */
  readonly schema: unknown;
  readonly streams: boolean;
}

export interface SentEvent {
  /** Empty where the wire has no names of events. */
  readonly event: string;
  readonly data: unknown;
}

/** One vendor's wire. */
export interface Dialect {
  readonly name: string;
  /** Undefined where the path is none of its. */
  read(path: string, body: JsonObject, headers: NodeJS.Dict<string | string[]>): Asked | undefined;
  stream(asked: Asked, answer: FullAnswer): readonly SentEvent[];
  whole(asked: Asked, answer: FullAnswer): unknown;
  fail(error: ScriptedError, asked: Asked): Failure;
}

export interface Failure {
  readonly status: number;
  readonly body: unknown;
  /** Instead of the body, where the vendor notices only when it streams already. */
  readonly events?: readonly SentEvent[];
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * What a program gets that asks for something of its own: a title, a summary, whether there is quota left. It fits the
 * schema, where there is one.
 */
export function sideAnswer({ schema }: Pick<Asked, "schema">): Answer {
  const say = schema === undefined ? "Some work" : JSON.stringify(sample(schema));
  return { say, usage: { input: 0, output: 0, cached: 0 } };
}

function sample(schema: unknown): unknown {
  const { type, properties, items, enum: values, anyOf } = objectOf(schema);
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return sample(anyOf[0]);
  const kind = textOf(Array.isArray(type) ? type[0] : type).toLowerCase();
  if (kind === "object")
    return Object.fromEntries(Object.entries(objectOf(properties)).map(([name, each]) => [name, sample(each)]));
  if (kind === "array") return items === undefined ? [] : [sample(items)];
  if (kind === "number" || kind === "integer") return 1;
  if (kind === "boolean") return false;
  return kind === "null" ? null : "Some work";
}

/** A model that says what it is told to, over the wires of all vendors at once. */
export interface ModelServer {
  /** Without a path: `http://127.0.0.1:4711`. */
  readonly url: string;
  /** Every question to the model, the oldest first. */
  readonly requests: readonly ModelRequest[];
  /** Whatever else was asked: method and path. */
  readonly strays: readonly string[];
  /** Puts answers to the end of the script. */
  add(...answers: readonly Answer[]): void;
  /** What is answered where the script has run out. */
  otherwise(answer: Answer): void;
  /** How many answers of the script nobody has had. */
  left(): number;
  /**
   * How often a text has arrived in conversations. A conversation tells its whole past with every question, so it counts
   * how often the text stands in the question that has it most often.
   */
  arrivals(text: string): number;
  close(): Promise<void>;
}

export interface ModelRequest extends Asked {
  readonly dialect: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: JsonObject;
  /** It asks for something of the program's own, such as a title, and takes nothing from the script. */
  readonly isSide: boolean;
}

export interface ModelServerOptions {
  /** Answers, one for each question. Where they have run out, it says that there is nothing more to do, or what `otherwise` was told. */
  readonly script?: readonly Answer[];
  /** Instead of a script. */
  readonly respond?: (request: ModelRequest) => Answer | Promise<Answer>;
  /** Told for each question; without tools it is a side question. A program that is given no tools needs another rule. */
  readonly isSide?: (asked: Asked) => boolean;
}

const dialects: readonly Dialect[] = [anthropic, openaiResponses, openaiChat, gemini];

/** Listens on this machine alone, and takes any key. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { script = [], respond, isSide = ({ tools }) => tools.length === 0 } = options;
  const queue = [...script];
  const requests: ModelRequest[] = [];
  const strays: string[] = [];
  const closing = new AbortController();
  let answers = 0;
  let fallback: Answer = {};

  async function answerTo(request: ModelRequest): Promise<Answer> {
    if (request.isSide) return sideAnswer(request);
    if (respond !== undefined) return respond(request);
    return queue.shift() ?? fallback;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "", headers } = request;
    const body = await readBody(request);
    for (const dialect of method === "POST" ? dialects : []) {
      const asked = dialect.read(path, body, headers);
      if (asked === undefined) continue;
      const recorded = { ...asked, dialect: dialect.name, path, headers, body, isSide: isSide(asked) };
      requests.push(recorded);
      return send(response, dialect, asked, await answerTo(recorded));
    }
    strays.push(`${method} ${path}`);
    return sendOther(response, method, path);
  }

  async function send(response: ServerResponse, dialect: Dialect, asked: Asked, answer: Answer): Promise<void> {
    if (answer.delay !== undefined) await sleep(answer.delay, undefined, { signal: closing.signal });
    if (answer.mishap === "hang") return;
    const isCut = answer.mishap === "cut";
    if (answer.error !== undefined) {
      const { status, body, headers, events } = dialect.fail(answer.error, asked);
      return events === undefined ? sendJson(response, status, body, headers) : sendEvents(response, events, isCut);
    }
    const full = complete(answer, ++answers);
    if (asked.streams) return sendEvents(response, dialect.stream(asked, full), isCut);
    if (isCut) response.destroy();
    else sendJson(response, 200, dialect.whole(asked, full));
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (!closing.signal.aborted && !response.headersSent) sendJson(response, 599, { scripted: String(error) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    strays,
    add: (...more) => void queue.push(...more),
    otherwise(answer) {
      fallback = answer;
    },
    left: () => queue.length,
    arrivals: (text) => countArrivals(requests, text),
    close: () =>
      new Promise((resolve) => {
        closing.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const unpack = { gzip: gunzipSync, zstd: zstdDecompressSync, br: brotliDecompressSync }[
    request.headers["content-encoding"] ?? ""
  ];
  const bytes = Buffer.concat(chunks);
  try {
    return objectOf(JSON.parse((unpack?.(bytes) ?? bytes).toString("utf8")));
  } catch {
    return {};
  }
}

/** Texts differ from answer to answer: some programs stop where a model repeats itself. */
function complete({ say, calls = [], usage, refuses = false }: Answer, nth: number): FullAnswer {
  const text = say ?? (calls.length > 0 ? "" : `Nothing more to do (${nth}).`);
  return {
    // Words stay whole, and nothing is lost between them.
    pieces: text.match(/\s*\S+\s*/g) ?? (text === "" ? [] : [text]),
    calls: calls.map((call, index) => ({ ...call, id: `${nth}x${index}x${Math.random().toString(36).slice(2, 10)}` })),
    usage: usage ?? { input: 100, output: 10, cached: 0 },
    refuses,
    id: `${nth}x${Math.random().toString(36).slice(2, 10)}`,
  };
}

function countArrivals(requests: readonly ModelRequest[], text: string): number {
  const most = new Map<string, number>();
  for (const { isSide, dialect, conversation, userTexts } of requests) {
    if (isSide) continue;
    const count = userTexts.reduce((sum, each) => sum + each.split(text).length - 1, 0);
    const key = `${dialect} ${conversation}`;
    most.set(key, Math.max(most.get(key) ?? 0, count));
  }
  return [...most.values()].reduce((sum, count) => sum + count, 0);
}

/** What programs ask besides: whether anybody is there, which models there are, how long a text is. */
function sendOther(response: ServerResponse, method: string, path: string): void {
  if (method === "HEAD") response.writeHead(200).end();
  else if (/count_tokens/.test(path)) sendJson(response, 200, { input_tokens: 100 });
  else if (/:countTokens/.test(path)) sendJson(response, 200, { totalTokens: 100 });
  else if (/\/models(\?|$)/.test(path)) sendJson(response, 200, { object: "list", data: [], models: [] });
  else sendJson(response, 404, { error: { type: "not_found_error", message: "There is nothing here.", code: 404 } });
}

function sendEvents(response: ServerResponse, events: readonly SentEvent[], isCut: boolean): void {
  const texts = events.map(({ event, data }) => {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    return `${event === "" ? "" : `event: ${event}\n`}data: ${text}\n\n`;
  });
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  if (isCut) response.write(texts.slice(0, Math.ceil(texts.length / 2)).join(""), () => response.destroy());
  else response.end(texts.join(""));
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers: Headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

type Headers = Readonly<Record<string, string>>;
