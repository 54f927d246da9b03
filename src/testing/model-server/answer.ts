import type { Json } from "../../adapters/harness/read-json.ts";

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
  read(path: string, body: Json, headers: NodeJS.Dict<string | string[]>): Asked | undefined;
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
