import { type Json, listOf, objectOf, textOf } from "../../adapters/harness/read-json.ts";
import type { Dialect, FullAnswer, SentEvent } from "./answer.ts";
import { openaiFailure } from "./openai-failure.ts";
import { textsOf } from "./texts-of.ts";

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

function toolNames({ type, name, tools }: Json): readonly string[] {
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

function itemsOf({ id, pieces, calls, refuses }: FullAnswer): readonly Json[] {
  const text = pieces.join("");
  const content = refuses ? { type: "refusal", refusal: text } : { type: "output_text", text, annotations: [] };
  const message = { type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content: [content] };
  return [...(text === "" ? [] : [message]), ...calls.map(callItem)];
}

function callItem({ id, name, namespace, input }: FullAnswer["calls"][number]): Json {
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
function emptied(item: Json): Json {
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

function named(data: { readonly type: string } & Json): SentEvent {
  return { event: data.type, data };
}
