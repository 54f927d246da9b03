import { packageVersion } from "../../home/package-version.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { mcpServer } from "../mcp/mcp-server.ts";
import { runTools } from "../mcp/run-tools.ts";
import { serveLines } from "../mcp/serve-lines.ts";

export async function mcp(this: Context): Promise<void> {
  const answer = mcpServer(runTools(createCall(this), process.env.SIGNALBOX_TOKEN), packageVersion);
  await serveLines(process.stdin, (line) => this.process.stdout.write(`${line}\n`), answer);
}
