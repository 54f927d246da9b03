import { type Application, run } from "@stricli/core";
import { createApp } from "./app.ts";
import { type Context, createContext } from "./context.ts";
import { exitCodeOf, exitCodes } from "./exit-code.ts";
import { offerCompletions } from "./offer-completions.ts";
import { writeError } from "./write-failure.ts";

/** Runs one command line to its end and leaves the exit code with the process. */
export async function start(process: NodeJS.Process): Promise<void> {
  const context = createContext(process);
  // A reader that has seen enough (`| head`) is no error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit();
    context.say(writeError(context, `The output cannot be written (${error.code}).`, "Look at where it goes."));
    process.exit(exitCodes.failed);
  });
  const app = createApp(context);
  const given = process.argv.slice(2);
  const isAlone = given.length === 0 && (await import("./is-person-there.ts")).isPersonThere(process, context.home);
  const words = isAlone ? ["guide"] : withHelp(app, given);
  if (words[0] === "complete" && words[1] === "--") await offerCompletions(app, words.slice(2), context);
  else await run(app, words, context);
  process.exitCode = exitCodeOf(process.exitCode);
}

/** `help task create`, `task help create` and `task help` are what people try before `task create --help`. */
function withHelp({ root }: Application<Context>, words: readonly string[]): readonly string[] {
  const [first = "", second, ...rest] = words;
  if (first === "help") return [...words.slice(1), "--help"];
  const target = second === "help" && "getAllEntries" in root ? root.getRoutingTargetForInput(first) : undefined;
  return target !== undefined && "getAllEntries" in target ? [first, ...rest, "--help"] : words;
}
