import { Fault, tell } from "../fault.ts";
import { createAgent } from "./scripted-agent/agent.ts";
import { readArguments } from "./scripted-agent/arguments.ts";
import { headless } from "./scripted-agent/headless.ts";
import { interactive } from "./scripted-agent/interactive.ts";

// The program of the scripted agent: an agent that does what its script says, and needs no model.
main();

async function main(): Promise<void> {
  try {
    const told = readArguments(process.argv.slice(2), process.env);
    const env = Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    const agent = createAgent(told, process.cwd(), env);
    if ("kind" in agent) {
      if (!told.interactive) process.stdout.write(`${JSON.stringify({ kind: "failed", error: agent })}\n`);
      process.stderr.write(`${agent.message}\n`);
      process.exitCode = 1;
    } else if (told.interactive) {
      process.exitCode = await interactive(agent, told);
    } else {
      process.exitCode = await headless(agent, told.prompt);
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    process.stderr.write(`${tell(error)}\n`);
    process.exitCode = error.code === "usage" ? 2 : 1;
  }
}
