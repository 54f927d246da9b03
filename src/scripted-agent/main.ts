import { Fault, tell } from "../fault.ts";
import { createAgent, headless, readArguments } from "./agent.ts";
import { interactive } from "./interactive.ts";

// The program of the scripted agent, which follows a script and needs no model.
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
