import { afterEach, expect, test } from "vitest";
import { type ModelServer, type ModelServerOptions, type ScriptedError, startModelServer } from "./server.ts";

const opened: ModelServer[] = [];
afterEach(() => Promise.all(opened.splice(0).map((server) => server.close())));

async function start(options: ModelServerOptions): Promise<ModelServer> {
  const server = await startModelServer(options);
  opened.push(server);
  return server;
}

/** A question in each vendor's words, and where its answer has text, calls and usage. */
interface Wire {
  readonly path: (streams: boolean) => string;
  readonly body: (said: readonly string[], streams: boolean, tools?: boolean) => unknown;
  /** From what was sent, streamed or not. */
  readonly text: RegExp;
  readonly status: Readonly<Record<ScriptedError["kind"], number>>;
}

const statuses = { "rate-limit": 429, authentication: 401, server: 500 };
const wires: Readonly<Record<string, Wire>> = {
  anthropic: {
    path: () => "/v1/messages?beta=true",
    body: (said, stream, tools = true) => ({
      model: "claude-x",
      stream,
      tools: tools ? [{ name: "Bash" }] : [],
      messages: said.map((text) => ({ role: "user", content: [{ type: "text", text }] })),
    }),
    text: /"type":"text(?:_delta)?","text":"([^"]*)"/g,
    status: { ...statuses, overloaded: 529, overflow: 400 },
  },
  "openai-responses": {
    path: () => "/v1/responses",
    body: (said, stream, tools = true) => ({
      model: "gpt-x",
      stream,
      tools: tools
        ? [
            { type: "function", name: "shell" },
            { type: "namespace", name: "mcp__fk", tools: [{ name: "ping" }] },
          ]
        : [],
      input: said.map((text) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] })),
    }),
    text: /"type":"response.output_text.delta"[^\n]*"delta":"([^"]*)"|"type":"output_text","text":"([^"]*)"/g,
    status: { ...statuses, overloaded: 503, overflow: 200 },
  },
  "openai-chat": {
    path: () => "/v1/chat/completions",
    body: (said, stream, tools = true) => ({
      model: "gpt-x",
      stream,
      tools: tools ? [{ type: "function", function: { name: "bash" } }] : [],
      messages: said.map((content) => ({ role: "user", content })),
    }),
    text: /"content":"([^"]*)"/g,
    status: { ...statuses, overloaded: 503, overflow: 400 },
  },
  gemini: {
    path: (streams) => `/v1beta/models/gemini-x:${streams ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: (said, _, tools = true) => ({
      contents: said.map((text) => ({ role: "user", parts: [{ text }] })),
      tools: tools ? [{ functionDeclarations: [{ name: "run_shell_command" }] }] : [],
    }),
    text: /"text":"([^"]*)"/g,
    status: { ...statuses, overloaded: 503, overflow: 400 },
  },
};

async function ask(server: ModelServer, wire: Wire, said: readonly string[], streams = true, tools = true) {
  const response = await fetch(`${server.url}${wire.path(streams)}`, {
    method: "POST",
    body: JSON.stringify(wire.body(said, streams, tools)),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

for (const [name, wire] of Object.entries(wires)) {
  test(`over ${name} it says what it was told, streamed in pieces or whole`, async () => {
    const server = await start({ script: [{ say: "One small answer." }, { say: "Another one." }] });
    const streamed = await ask(server, wire, ["Do it."], true);
    expect(streamed.headers.get("content-type")).toContain("text/event-stream");
    expect(piecesOf(streamed.text, wire)).toEqual(expect.arrayContaining(["One ", "small ", "answer."]));
    const whole = await ask(server, wire, ["Do it."], false);
    JSON.parse(whole.text);
    expect(piecesOf(whole.text, wire)).toContain("Another one.");
  });

  test(`over ${name} it calls tools and tells what was used up`, async () => {
    const call = { name: "mcp_tool", input: { path: "a.txt" } };
    const server = await start({ script: [{ calls: [call], usage: { input: 123, output: 45, cached: 1000 } }] });
    const { text } = await ask(server, wire, ["Do it."]);
    expect(text).toContain('"mcp_tool"');
    expect(text.replaceAll("\\", "")).toContain('"path":"a.txt"');
    // Anthropic counts what was cached apart, the others among the input.
    expect(text).toContain(name === "anthropic" ? '"input_tokens":123' : "1123");
    expect(text).toContain("45");
  });

  test(`over ${name} errors have the vendor's status and form`, async () => {
    for (const kind of ["rate-limit", "authentication", "server", "overloaded", "overflow"] as const) {
      const server = await start({ script: [{ error: { kind, retryAfter: 7 } }] });
      const { status, headers, text } = await ask(server, wire, ["Do it."]);
      expect([kind, status]).toEqual([kind, wire.status[kind]]);
      expect(text).toContain('"error"');
      if (status !== 200) expect(headers.get("retry-after")).toBe("7");
    }
  });

  test(`over ${name} a cut line gives half an answer, and a delay or a hang does not hold up closing`, async () => {
    const server = await start({
      script: [{ say: "Four words are here.", mishap: "cut" }, { delay: 3_600_000 }, { mishap: "hang" }],
    });
    await expect(ask(server, wire, ["Do it."])).rejects.toThrow();
    const waiting = [ask(server, wire, ["Do it."]), ask(server, wire, ["Do it."])].map((asked) =>
      asked.catch(() => "gone"),
    );
    while (server.left() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await server.close();
    expect(await Promise.all(waiting)).toEqual(["gone", "gone"]);
  });

  test(`over ${name} it counts how often a text has arrived, not how often it was told again`, async () => {
    const server = await start({});
    await ask(server, wire, ["marker-1"]);
    await ask(server, wire, ["marker-1", "then marker-2"]);
    await ask(server, wire, ["marker-1", "then marker-2", "again marker-2"]);
    expect(["marker-1", "marker-2", "marker-3"].map((text) => server.arrivals(text))).toEqual([1, 2, 0]);
  });

  test(`over ${name} questions without tools take nothing from the script`, async () => {
    const server = await start({ script: [{ say: "Mine." }] });
    const side = await ask(server, wire, ["Find a title."], true, false);
    expect(side.text).not.toContain("Mine.");
    expect(server.left()).toBe(1);
    expect(server.requests[0]?.isSide).toBe(true);
    expect((await ask(server, wire, ["Do it."])).text).toContain("Mine.");
  });
}

test("a function may decide by what was asked", async () => {
  const server = await start({ respond: ({ userTexts }) => ({ say: `You said ${userTexts.at(-1)}` }) });
  expect((await ask(server, wires.anthropic as Wire, ["hello"])).text).toContain("hello");
});

test("where the script has run out, the same is answered again and again", async () => {
  const server = await start({ script: [{ say: "Once." }] });
  server.otherwise({ error: { kind: "server" } });
  const asked = [1, 2, 3].map(() => () => ask(server, wires.anthropic as Wire, ["Do it."]));
  const statuses: number[] = [];
  for (const next of asked) statuses.push((await next()).status);
  expect(statuses).toEqual([200, 500, 500]);
});

test("tools in a namespace are told by both names, and called by both", async () => {
  const server = await start({ script: [{ calls: [{ name: "ping", namespace: "mcp__fk", input: {} }] }] });
  const { text } = await ask(server, wires["openai-responses"] as Wire, ["Do it."]);
  expect(server.requests[0]?.tools).toEqual(["shell", "mcp__fk.ping"]);
  expect(text).toContain('"namespace":"mcp__fk"');
});

test("a side question with a schema gets an answer that fits", async () => {
  const server = await start({});
  const schema = { type: "OBJECT", properties: { title: { type: "STRING" }, speaker: { enum: ["user", "model"] } } };
  const response = await fetch(`${server.url}/v1beta/models/gemini-x:generateContent`, {
    method: "POST",
    body: JSON.stringify({ contents: [], generationConfig: { responseJsonSchema: schema } }),
  });
  const { candidates } = (await response.json()) as {
    candidates: readonly { content: { parts: readonly { text: string }[] } }[];
  };
  expect(JSON.parse(candidates[0]?.content.parts[0]?.text ?? "")).toEqual({ title: "Some work", speaker: "user" });
});

test("whoever knocks is let in, and what nobody knows is noted", async () => {
  const server = await start({});
  expect((await fetch(server.url, { method: "HEAD" })).status).toBe(200);
  expect((await fetch(`${server.url}/v1/other`)).status).toBe(404);
  expect(server.strays).toEqual(["HEAD /", "GET /v1/other"]);
});

function piecesOf(text: string, { text: form }: Wire): readonly string[] {
  return [...text.matchAll(form)].map(([, a, b]) => a ?? b ?? "");
}
