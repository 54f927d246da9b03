import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { HarnessError } from "../../../ports/harness.ts";
import type { BridgeOrder } from "./bridge-order.ts";
import { converse } from "./converse.ts";

// A program of its own: it reads a BridgeOrder, has one turn with an agent, prints what it learns, and ends with the turn.

/** How long an agent may take to end once nobody talks to it any more. */
const grace = 5_000;

const print = (line: Readonly<Record<string, unknown>>) => process.stdout.write(`${JSON.stringify(line)}\n`);

main();

async function main(): Promise<void> {
  const order = JSON.parse(await text(process.stdin)) as BridgeOrder;
  const [program = "", ...rest] = order.argv;
  // In our own group, so that whoever ends us ends it too.
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
      // Most agents stop at once; the others are ended with us.
      setTimeout(() => agent.kill("SIGKILL"), 1_000).unref();
    });

  const error = await Promise.race([conversation.turn, over]);
  print({ end: error ?? null });
  agent.stdin.end();
  await Promise.race([ended, over, sleep(grace, undefined, { ref: false })]);
  agent.kill("SIGKILL");
  endGroup();
  // Whoever has outlived the agent may hold its lines open, and we would wait for them.
  process.exit(error === undefined ? 0 : 1);
}

/** Gemini CLI starts itself a second time, and with an MCP server that one does not end when nobody talks to it any more. */
function endGroup(): void {
  try {
    process.kill(-process.pid, "SIGTERM");
  } catch {
    // The group is not ours: whoever leads it ends it.
  }
}
