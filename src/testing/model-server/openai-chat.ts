import { type Json, listOf, objectOf, textOf } from "../../adapters/harness/read-json.ts";
import type { Dialect, FullAnswer, SentEvent } from "./answer.ts";
import { openaiFailure } from "./openai-failure.ts";
import { textsOf } from "./texts-of.ts";

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
    const chunk = (choices: readonly Json[], more: Json = {}): SentEvent => ({
      event: "",
      data: { ...known("chat.completion.chunk", model, answer), choices, ...more },
    });
    const delta = (of: Json, finish_reason: string | null = null) => chunk([{ index: 0, delta: of, finish_reason }]);
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

function callsOf({ calls }: FullAnswer): readonly Json[] {
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
