import { type JsonObject, listOf, objectOf, textOf } from "../../src/json.ts";
import { retryHeaders, textsOf } from "./openai.ts";
import type { Dialect, FullAnswer, ScriptedError } from "./server.ts";

/** Google's `generateContent` and `streamGenerateContent`. */
export const gemini: Dialect = {
  name: "gemini",
  read(path, body) {
    const [, model, method] = /\/models\/([^/:?]+):(generateContent|streamGenerateContent)(?:\?|$)/.exec(path) ?? [];
    if (model === undefined) return undefined;
    const ofUser = listOf(body.contents).filter(({ role }) => role !== "model");
    const parts = ofUser.flatMap((content) => listOf(content.parts));
    const config = objectOf(body.generationConfig);
    return {
      model,
      system: textsOf(objectOf(body.systemInstruction).parts).join("\n"),
      tools: listOf(body.tools)
        .flatMap(({ functionDeclarations }) => listOf(functionDeclarations))
        .map(({ name }) => textOf(name)),
      userTexts: textsOf(parts),
      toolResults: parts.flatMap(({ functionResponse }) =>
        functionResponse === undefined ? [] : [JSON.stringify(objectOf(functionResponse).response)],
      ),
      conversation: "",
      schema: config.responseJsonSchema ?? config.responseSchema,
      streams: method === "streamGenerateContent",
    };
  },
  stream({ model }, answer) {
    const said = answer.pieces.map((text) => ({
      event: "",
      data: { candidates: [candidate([{ text }])], modelVersion: model },
    }));
    return [...said, { event: "", data: responseOf(model, { ...answer, pieces: [] }) }];
  },
  whole: ({ model }, answer) => responseOf(model, answer),
  fail(error) {
    const { status, name, message } = failures[error.kind];
    const type = "type.googleapis.com/google.rpc.RetryInfo";
    const details = error.retryAfter === undefined ? [] : [{ "@type": type, retryDelay: `${error.retryAfter}s` }];
    return {
      status,
      body: { error: { code: status, message: error.message ?? message, status: name, details } },
      headers: { ...retryHeaders(error), ...error.headers },
    };
  },
};

const failures: Readonly<Record<ScriptedError["kind"], { status: number; name: string; message: string }>> = {
  "rate-limit": { status: 429, name: "RESOURCE_EXHAUSTED", message: "Resource has been exhausted (e.g. check quota)." },
  authentication: {
    status: 401,
    name: "UNAUTHENTICATED",
    message: "Request had invalid authentication credentials. Expected OAuth 2 access token or other valid credential.",
  },
  server: { status: 500, name: "INTERNAL", message: "An internal error has occurred." },
  overloaded: { status: 503, name: "UNAVAILABLE", message: "The model is overloaded. Please try again later." },
  overflow: {
    status: 400,
    name: "INVALID_ARGUMENT",
    message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  },
};

function responseOf(model: string, answer: FullAnswer) {
  const { input, output, cached } = answer.usage;
  const said = answer.pieces.length === 0 ? [] : [{ text: answer.pieces.join("") }];
  const calls = answer.calls.map(({ id, name, input: args }) => ({ functionCall: { id, name, args } }));
  return {
    candidates: [{ ...candidate([...said, ...calls]), finishReason: answer.refuses ? "SAFETY" : "STOP" }],
    usageMetadata: {
      promptTokenCount: input + cached,
      cachedContentTokenCount: cached,
      candidatesTokenCount: output,
      totalTokenCount: input + cached + output,
    },
    modelVersion: model,
    responseId: answer.id,
  };
}

function candidate(parts: readonly JsonObject[]) {
  return { content: { role: "model", parts: parts.length === 0 ? [{ text: "" }] : parts }, index: 0 };
}
