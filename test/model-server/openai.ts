import { type JsonObject, listOf, objectOf, textOf } from "../../src/json.ts";
import type { Dialect, Failure, FullAnswer, ScriptedError, SentEvent } from "./server.ts";

/** OpenAI's chat completions, which many others speak too. */
export const openaiChat: Dialect = {
  name: "openai-chat",
  read(path, body, headers) {
    if (!/^\/(v1\/)?chat\/completions(\?|$)/.test(path)) return undefined;
    const messages = listOf(body.messages);
    const by = (...roles: readonly string[]) => messages.filter(({ role }) => roles.includes(textOf(role)));
    return {
      model: textOf(body.model),
      system: by("system", "developer")
        .flatMap(({ content }) => textsOf(content))
        .join("\n"),
      tools: listOf(body.tools).map((tool) => textOf(objectOf(tool.function).name)),
      userTexts: by("user").flatMap(({ content }) => textsOf(content)),
      toolResults: by("tool").map(({ content }) => textsOf(content).join("\n")),
      conversation: textOf(headers["x-session-affinity"]) || textOf(headers["x-opencode-session"]),
      schema: objectOf(objectOf(body.response_format).json_schema).schema,
      streams: body.stream === true,
    };
  },
  stream({ model }, answer) {
    const chunk = (choices: readonly JsonObject[], more: JsonObject = {}): SentEvent => ({
      event: "",
      data: { ...known("chat.completion.chunk", model, answer), choices, ...more },
    });
    const delta = (of: JsonObject, finish_reason: string | null = null) =>
      chunk([{ index: 0, delta: of, finish_reason }]);
    return [
      delta({ role: "assistant", content: "" }),
      ...answer.pieces.map((content) => delta({ content })),
      ...callsOf(answer).map((call, index) => delta({ tool_calls: [{ index, ...call }] })),
      delta({}, finishReason(answer)),
      chunk([], { usage: usageOf(answer) }),
      { event: "", data: "[DONE]" },
    ];
  },
  whole({ model }, answer) {
    const calls = callsOf(answer);
    const message = {
      role: "assistant",
      content: answer.pieces.join("") || null,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    return {
      ...known("chat.completion", model, answer),
      choices: [{ index: 0, message, finish_reason: finishReason(answer) }],
      usage: usageOf(answer),
    };
  },
  fail: openaiFailure,
};

function known(object: string, model: string, { id }: FullAnswer) {
  return { id: `chatcmpl-${id}`, object, created: 1_700_000_000, model };
}

function callsOf({ calls }: FullAnswer): readonly JsonObject[] {
  return calls.map(({ id, name, input }) => ({
    id: `call_${id}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
}

function finishReason({ calls, refuses }: FullAnswer): string {
  if (refuses) return "content_filter";
  return calls.length > 0 ? "tool_calls" : "stop";
}

function usageOf({ usage: { input, output, cached } }: FullAnswer) {
  return {
    prompt_tokens: input + cached,
    completion_tokens: output,
    total_tokens: input + cached + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/** How OpenAI says that something went wrong. */
export function openaiFailure(error: ScriptedError): Failure {
  const { status, type, code, message } = failures[error.kind];
  const again = error.retryAfter === undefined ? "" : ` Please try again in ${error.retryAfter}s.`;
  return {
    status,
    body: { error: { message: error.message ?? `${message}${again}`, type, param: null, code } },
    headers: { ...retryHeaders(error), ...error.headers },
  };
}

const failures: Readonly<
  Record<ScriptedError["kind"], { status: number; type: string; code: string | null; message: string }>
> = {
  "rate-limit": {
    status: 429,
    type: "requests",
    code: "rate_limit_exceeded",
    message: "Rate limit reached for requests per minute (RPM): Limit 3, Used 3, Requested 1.",
  },
  authentication: {
    status: 401,
    type: "invalid_request_error",
    code: "invalid_api_key",
    message: "Incorrect API key provided.",
  },
  server: {
    status: 500,
    type: "server_error",
    code: null,
    message: "The server had an error processing your request.",
  },
  overloaded: { status: 503, type: "server_error", code: null, message: "The server is overloaded." },
  overflow: {
    status: 400,
    type: "invalid_request_error",
    code: "context_length_exceeded",
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
  },
};

/** OpenAI's responses. */
export const openaiResponses: Dialect = {
  name: "openai-responses",
  read(path, body, headers) {
    if (!/^\/(v1\/)?responses(\?|$)/.test(path)) return undefined;
    const items = typeof body.input === "string" ? [{ role: "user", content: body.input }] : listOf(body.input);
    const by = (...roles: readonly string[]) =>
      items.filter(({ role }) => roles.includes(textOf(role))).flatMap(({ content }) => textsOf(content));
    return {
      model: textOf(body.model),
      system: [textOf(body.instructions), ...by("system", "developer")].join("\n"),
      tools: listOf(body.tools).flatMap(toolNames),
      userTexts: by("user"),
      toolResults: items
        .filter(({ type }) => /_call_output$/.test(textOf(type)))
        .map(({ output }) => outputText(output)),
      conversation: textOf(body.prompt_cache_key) || textOf(headers.session_id) || textOf(headers["session-id"]),
      schema: objectOf(objectOf(body.text).format).schema,
      streams: body.stream === true,
    };
  },
  stream({ model }, answer) {
    const id = `resp_${answer.id}`;
    const begun = { id, object: "response", model, status: "in_progress", output: [] };
    const items = itemsOf(answer).flatMap((item, output_index): readonly SentEvent[] => [
      named({ type: "response.output_item.added", output_index, item: emptied(item) }),
      ...(item.type === "message" ? deltas(answer, textOf(item.id), output_index) : []),
      named({ type: "response.output_item.done", output_index, item }),
    ]);
    return [
      named({ type: "response.created", response: begun }),
      named({ type: "response.in_progress", response: begun }),
      ...items,
      named({ type: "response.completed", response: responseOf(model, answer) }),
    ].map(({ event, data }, sequence_number) => ({ event, data: { ...objectOf(data), sequence_number } }));
  },
  whole: ({ model }, answer) => responseOf(model, answer),
  fail(error, { model, streams }) {
    const failure = openaiFailure(error);
    if (error.kind !== "overflow" || !streams) return failure;
    const response = { id: "resp_failed", object: "response", model, status: "failed", ...objectOf(failure.body) };
    return { ...failure, status: 200, events: [named({ type: "response.failed", response, sequence_number: 0 })] };
  },
};

function toolNames({ type, name, tools }: JsonObject): readonly string[] {
  if (type === "namespace") return listOf(tools).map((tool) => `${textOf(name)}.${textOf(tool.name)}`);
  return [textOf(name) || textOf(type)];
}

function outputText(output: unknown): string {
  return typeof output === "object" && output !== null && !Array.isArray(output)
    ? JSON.stringify(output)
    : textsOf(output).join("\n");
}

function responseOf(model: string, answer: FullAnswer) {
  const { input, output, cached } = answer.usage;
  return {
    ...{ id: `resp_${answer.id}`, object: "response", created_at: 1_700_000_000, model, status: "completed" },
    output: itemsOf(answer),
    error: null,
    usage: {
      input_tokens: input + cached,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + cached + output,
    },
  };
}

function itemsOf({ id, pieces, calls, refuses }: FullAnswer): readonly JsonObject[] {
  const text = pieces.join("");
  const content = refuses ? { type: "refusal", refusal: text } : { type: "output_text", text, annotations: [] };
  const message = { type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content: [content] };
  return [...(text === "" ? [] : [message]), ...calls.map(callItem)];
}

function callItem({ id, name, namespace, input }: FullAnswer["calls"][number]): JsonObject {
  const known = { call_id: `call_${id}`, name, status: "completed" };
  if (typeof input === "string") return { type: "custom_tool_call", id: `ctc_${id}`, ...known, input };
  return {
    type: "function_call",
    id: `fc_${id}`,
    ...known,
    ...(namespace === undefined ? {} : { namespace }),
    arguments: JSON.stringify(input),
  };
}

/** An item as it is when it begins. */
function emptied(item: JsonObject): JsonObject {
  return {
    ...item,
    status: "in_progress",
    ...(item.content === undefined ? {} : { content: [] }),
    ...(item.arguments === undefined ? {} : { arguments: "" }),
  };
}

function deltas({ pieces }: FullAnswer, item_id: string, output_index: number): readonly SentEvent[] {
  const at = { item_id, output_index, content_index: 0 };
  const part = { type: "output_text", text: pieces.join(""), annotations: [] };
  return [
    named({ type: "response.content_part.added", ...at, part: { ...part, text: "" } }),
    ...pieces.map((delta) => named({ type: "response.output_text.delta", ...at, delta })),
    named({ type: "response.output_text.done", ...at, text: part.text }),
    named({ type: "response.content_part.done", ...at, part }),
  ];
}

function named(data: { readonly type: string } & JsonObject): SentEvent {
  return { event: data.type, data };
}

/** What every vendor says about when to come again. */
export function retryHeaders({ retryAfter }: ScriptedError): Readonly<Record<string, string>> {
  return retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
}

/** A text, or the texts of a list of parts. */
export function textsOf(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  return listOf(content).flatMap(({ text }) => (typeof text === "string" ? [text] : []));
}
