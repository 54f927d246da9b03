// A stand-in for our MCP server: its calls are recorded in a file.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const tools = (process.env.OFFERED ?? "comment").split(",").map((name) => ({
  name,
  description: `Calls ${name}.`,
  inputSchema: { type: "object", properties: {} },
}));
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "signalbox", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => {
    appendFileSync(process.env.CALLS_FILE, `${name}\n`);
    return { content: [{ type: "text", text: "The comment is noted." }] };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} })}\n`);
});
