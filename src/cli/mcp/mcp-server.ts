import { errorOf, type Reply, type Request, resultOf } from "./json-rpc.ts";
import type { Tool } from "./tool.ts";

/** The newest comes first. */
const versions = ["2025-06-18", "2025-03-26", "2024-11-05"];

/** Answers what a client of the Model Context Protocol asks of a server that has nothing but tools. */
export function mcpServer(tools: readonly Tool[], version: string): (request: Request) => Promise<Reply | undefined> {
  return async ({ id, method, params }) => {
    switch (method) {
      case "initialize":
        return resultOf(id, {
          // Whoever asks for a version that nobody knows is told the newest, and decides.
          protocolVersion: versions.find((each) => each === params.protocolVersion) ?? versions[0],
          capabilities: { tools: { listChanged: false } },
          serverInfo: { name: "signalbox", title: "Signalbox", version },
          instructions:
            "Tells Signalbox where your task stands. What is refused comes with what is missing: mend it and ask again.",
        });
      case "ping":
        return resultOf(id, {});
      case "tools/list":
        return resultOf(id, { tools: tools.map(({ call: _, ...tool }) => tool) });
      case "tools/call":
        return callTool(tools, id, params);
      default:
        return method.startsWith("notifications/")
          ? undefined
          : errorOf(id, "method", `There is no method "${method}" here.`);
    }
  };
}

async function callTool(tools: readonly Tool[], id: Request["id"], params: Request["params"]): Promise<Reply> {
  const tool = tools.find(({ name }) => name === params.name);
  if (tool === undefined) {
    const names = tools.map(({ name }) => name).join(", ");
    return errorOf(id, "params", `There is no tool ${JSON.stringify(params.name ?? "")}. There are ${names}.`);
  }
  const { text, isError } = await tool.call(params.arguments ?? {});
  return resultOf(id, { content: [{ type: "text", text }], isError });
}
