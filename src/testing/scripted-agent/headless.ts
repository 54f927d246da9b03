import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { HarnessEvent } from "../../ports/harness.ts";
import type { Agent } from "./agent.ts";

/** One turn without a terminal: what happens is printed, a line of JSON each. Gives the exit code. */
export async function headless(agent: Agent, prompt: string): Promise<number> {
  const { session } = agent;
  const tell = (event: HarnessEvent) => void process.stdout.write(`${JSON.stringify(event)}\n`);
  const heard = prompt === "" ? await text(process.stdin) : prompt;
  // Whoever reads us may be gone; there is nobody to tell then.
  process.stdout.on("error", () => process.exit(1));
  tell({ kind: "session", id: session.id, transcript: session.transcript });
  session.note({ kind: "received", text: heard });
  tell({ kind: "prompted", text: heard });
  const played = await agent.hear(heard, {
    tell,
    show: (output) => void process.stdout.write(`${JSON.stringify({ kind: "output", text: output })}\n`),
    signal: new AbortController().signal,
    async ask(about) {
      tell({ kind: "asks", about });
      return false;
    },
    async print(bytes) {
      if (!process.stdout.write(bytes)) await once(process.stdout, "drain");
    },
    async quit(code) {
      session.close();
      process.exit(code);
    },
  });
  session.close();
  if (played.error !== undefined) {
    tell({ kind: "failed", error: played.error });
    return 1;
  }
  process.stdout.write(`${JSON.stringify({ kind: "result", text: played.text, answer: played.answer })}\n`);
  return 0;
}
