import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { HarnessError } from "../../../ports/harness.ts";
import type { BridgeOrder } from "./acp.ts";
import { converse } from "./converse.ts";

// A separate program: it reads a BridgeOrder, has one turn with an agent, prints events, and ends with the turn.

/** How long an agent may take to end after its standard input was closed. */
const grace = 5_000;

const print = (line: Readonly<Record<string, unknown>>) => process.stdout.write(`${JSON.stringify(line)}\n`);

main();

async function main(): Promise<void> {
  const order = JSON.parse(await text(process.stdin)) as BridgeOrder;
  const [program = "", ...rest] = order.argv;
  // In the bridge's process group, so that ending the group ends the agent too.
  const agent = spawn(program, rest, { cwd: order.folder, stdio: ["pipe", "pipe", "inherit"] });
  const over = new Promise<HarnessError>((resolve) => {
    agent.on("error", (error) =>
      resolve({ kind: "start", message: `"${program}" could not be started: ${error.message}.`, resetAt: undefined }),
    );
  });
  const ended = new Promise<void>((resolve) => void agent.on("close", () => resolve()));

  const conversation = converse(order, { input: agent.stdout, output: agent.stdin }, (event) => print({ event }));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    process.on(signal, () => {
      conversation.cancel();
      // Most agents stop immediately; the others are killed.
      setTimeout(() => agent.kill("SIGKILL"), 1_000).unref();
    });

  const error = await Promise.race([conversation.turn, over]);
  print({ end: error ?? null });
  agent.stdin.end();
  await Promise.race([ended, over, sleep(grace, undefined, { ref: false })]);
  agent.kill("SIGKILL");
  endGroup();
  // Exit explicitly: processes that outlive the agent may hold its pipes open, and Node would wait for them.
  process.exit(error === undefined ? 0 : 1);
}

/** Gemini CLI starts a second process of itself; with an MCP server, that one does not end when its input is closed. */
function endGroup(): void {
  try {
    process.kill(-process.pid, "SIGTERM");
  } catch {
    // The bridge does not lead its group: the leader ends it.
  }
}
