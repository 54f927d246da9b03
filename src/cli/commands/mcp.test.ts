import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { mcpServer, type Tool } from "../../api/mcp-server.ts";
import { serveLines } from "./mcp.ts";

const echo: Tool = {
  name: "echo",
  title: "Echo",
  description: "Says it again",
  inputSchema: { type: "object" },
  call: async (input) => ({ text: JSON.stringify(input), isError: false }),
};

/** The replies to input that arrives in these pieces. */
async function spoken(...pieces: readonly (string | Uint8Array)[]): Promise<readonly unknown[]> {
  const written: unknown[] = [];
  const input = Readable.from(pieces.map((piece) => Buffer.from(piece)));
  await serveLines(
    input,
    (line) => written.push(JSON.parse(line)),
    mcpServer(async () => [echo], "1.2.3"),
  );
  return written;
}

const line = (message: object) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

test.each([
  ["2025-06-18", "2025-06-18"],
  ["2025-03-26", "2025-03-26"],
  ["2024-11-05", "2024-11-05"],
  ["1999-01-01", "2025-06-18"],
  [undefined, "2025-06-18"],
])("a client that asks for version %s is told %s", async (protocolVersion, expected) => {
  const [answer] = await spoken(line({ id: 1, method: "initialize", params: { protocolVersion } }));
  expect(answer).toMatchObject({
    jsonrpc: "2.0",
    id: 1,
    result: { protocolVersion: expected, capabilities: { tools: {} }, serverInfo: { name: "signalbox" } },
  });
});

test("tools are listed and called, and notifications are not answered", async () => {
  const answers = await spoken(
    line({ method: "notifications/initialized" }),
    line({ id: "a", method: "tools/list" }),
    line({ id: "b", method: "tools/call", params: { name: "echo", arguments: { text: "ü\n" } } }),
    line({ id: 3, method: "ping" }),
    line({ id: 4, result: {} }),
  );
  expect(answers).toEqual([
    {
      jsonrpc: "2.0",
      id: "a",
      result: {
        tools: [{ name: "echo", title: "Echo", description: "Says it again", inputSchema: { type: "object" } }],
      },
    },
    {
      jsonrpc: "2.0",
      id: "b",
      result: { content: [{ type: "text", text: '{"text":"ü\\n"}' }], isError: false },
    },
    { jsonrpc: "2.0", id: 3, result: {} },
  ]);
});

test("messages may arrive in any pieces, several together, and without a newline after the last one", async () => {
  const bytes = Buffer.from(line({ id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "ü" } } }));
  const both = JSON.stringify([
    { jsonrpc: "2.0", id: 2, method: "ping" },
    { jsonrpc: "2.0", method: "notifications/x" },
  ]);
  const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
  const answers = await spoken(...pieces, `\n${both}`);
  expect(answers).toMatchObject([{ id: 1, result: { isError: false } }, [{ id: 2, result: {} }]]);
});

test("an invalid message, an unknown method and an unknown tool get different errors", async () => {
  const answers = await spoken(
    "nonsense\n",
    '{"id": 1}\n',
    line({ id: { a: 1 }, method: "ping" }),
    line({ id: 2, method: "resources/list" }),
    line({ id: 3, method: "tools/call", params: { name: "rm" } }),
    line({ id: 4, method: "ping", params: [1] }),
    line({ id: 5, method: "ping" }),
  );
  expect(answers).toMatchObject([
    { id: null, error: { code: -32_700 } },
    { id: null, error: { code: -32_600 } },
    { id: null, error: { code: -32_600 } },
    { id: 2, error: { code: -32_601 } },
    { id: 3, error: { code: -32_602, message: expect.stringContaining("There are echo.") } },
    { id: null, error: { code: -32_600 } },
    { id: 5, result: {} },
  ]);
});

test("a message without an end does not fill the memory", async () => {
  const endless = Array.from({ length: 9 }, () => "x".repeat(1024 * 1024));
  const answers = await spoken(...endless, "\n", line({ id: 1, method: "ping" }));
  expect(answers).toMatchObject([{ error: { code: -32_600 } }, { id: 1, result: {} }]);
});
