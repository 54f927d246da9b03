import { type JsonObject, listOf, objectOf, textOf } from "../../src/json.ts";
import { retryHeaders, textsOf } from "./openai.ts";
import type { Dialect, FullAnswer, ScriptedError, SentEvent } from "./server.ts";

/** Anthropic's messages. */
export const anthropic: Dialect = {
  name: "anthropic",
  read(path, body) {
    if (!/^\/v1\/messages(\?|$)/.test(path)) return undefined;
    const messages = listOf(body.messages);
    const ofUser = messages.filter(({ role }) => role === "user");
    const results = ofUser.flatMap(({ content }) => listOf(content).filter(({ type }) => type === "tool_result"));
    return {
      model: textOf(body.model),
      system: [...textsOf(body.system), ...messages.filter(({ role }) => role === "system").flatMap(contentOf)].join(
        "\n",
      ),
      tools: listOf(body.tools).map(({ name }) => textOf(name)),
      userTexts: ofUser.flatMap(contentOf),
      toolResults: results.map((result) => textsOf(result.content).join("\n")),
      conversation: textOf(objectOf(body.metadata).user_id),
      schema: objectOf(objectOf(body.output_config).format).schema ?? objectOf(body.output_format).schema,
      streams: body.stream === true,
    };
  },
  stream(asked, answer) {
    const blocks: SentEvent[] = contentOfAnswer(answer).flatMap((block, index) => {
      const isText = block.type === "text";
      const deltas = isText
        ? answer.pieces.map((text) => ({ type: "text_delta", text }))
        : [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
      return [
        named({
          type: "content_block_start",
          index,
          content_block: { ...block, ...(isText ? { text: "" } : { input: {} }) },
        }),
        ...deltas.map((delta) => named({ type: "content_block_delta", index, delta })),
        named({ type: "content_block_stop", index }),
      ];
    });
    const message = { ...messageOf(asked.model, answer), content: [], stop_reason: null };
    return [
      named({ type: "message_start", message: { ...message, usage: { ...usageOf(answer), output_tokens: 1 } } }),
      ...blocks,
      named({
        type: "message_delta",
        delta: { stop_reason: stopReason(answer), stop_sequence: null },
        usage: usageOf(answer),
      }),
      named({ type: "message_stop" }),
    ];
  },
  whole: ({ model }, answer) => messageOf(model, answer),
  fail(error) {
    const { status, type, message } = failures[error.kind];
    return {
      status,
      body: { type: "error", error: { type, message: error.message ?? message }, request_id: "req_scripted" },
      headers: { ...retryHeaders(error), ...error.headers },
    };
  },
};

const failures: Readonly<Record<ScriptedError["kind"], { status: number; type: string; message: string }>> = {
  "rate-limit": {
    status: 429,
    type: "rate_limit_error",
    message: "This request would exceed your organization's rate limit.",
  },
  authentication: { status: 401, type: "authentication_error", message: "invalid x-api-key" },
  server: { status: 500, type: "api_error", message: "Internal server error" },
  overloaded: { status: 529, type: "overloaded_error", message: "Overloaded" },
  overflow: {
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 208310 tokens > 200000 maximum",
  },
};

function messageOf(model: string, answer: FullAnswer) {
  return {
    id: `msg_${answer.id}`,
    type: "message",
    role: "assistant",
    model,
    content: contentOfAnswer(answer),
    stop_reason: stopReason(answer),
    stop_sequence: null,
    usage: usageOf(answer),
  };
}

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown };

function contentOfAnswer({ pieces, calls }: FullAnswer): readonly Block[] {
  const text = pieces.join("");
  return [
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...calls.map(({ id, name, input }) => ({ type: "tool_use" as const, id: `toolu_${id}`, name, input })),
  ];
}

function stopReason({ calls, refuses }: FullAnswer): string {
  if (refuses) return "refusal";
  return calls.length > 0 ? "tool_use" : "end_turn";
}

function usageOf({ usage }: FullAnswer) {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached,
    output_tokens: usage.output,
  };
}

function contentOf({ content }: JsonObject): readonly string[] {
  return textsOf(content);
}

function named(data: { readonly type: string } & JsonObject): SentEvent {
  return { event: data.type, data };
}
