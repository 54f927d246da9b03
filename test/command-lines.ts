import { type Application, type Command, type RouteMap, run } from "@stricli/core";
import { type Context, createContext } from "../src/cli/context.ts";
import { createApp } from "../src/cli/start.ts";
import { fenced } from "./documents.ts";

/** Every call of our command line in a document's shell and terminal blocks. */
export function blockLines(text: string): readonly string[] {
  const blocks = [...fenced(text, "sh"), ...fenced(text, "text")];
  return blocks.flatMap((block) => withoutInput(block.replaceAll("\\\n", " ")).split("\n").flatMap(callIn));
}

/** Every call of our command line in a code span. */
export function spanLines(text: string): readonly string[] {
  const spans = [...withoutBlocks(text).matchAll(/`([^`]+)`/g)];
  return spans.flatMap(([, span = ""]) => callIn(span.replace(/\s+/g, " ")));
}

function callIn(line: string): readonly string[] {
  const command = /^\s*(?:\$ )?(?:[^|]+\| )?(?:bin\/)?(signalbox .*)$/.exec(line)?.[1] ?? "";
  // An abbreviated command, such as `signalbox task …`, cannot be called.
  return command === "" || /…|[<[]\w/.test(command) ? [] : [command.replace(/ +#.*$/, "")];
}

/** The real parser's objection to a command line; empty if it accepts the line. Nothing is executed. */
export async function parseProblem(line: string): Promise<string> {
  const said: string[] = [];
  const stream = { write: (text: string) => said.push(text) };
  const process = { stdout: stream, stderr: stream, env: {}, exitCode: undefined as number | undefined };
  const context: Context = { ...createContext(process as unknown as NodeJS.Process), say: stream.write };
  const app = createApp(context);
  await run({ ...app, root: inert(app.root) } as Application<Context>, wordsOf(line).slice(1), context);
  return process.exitCode === 0 ? "" : said.join("");
}

type Target = Command<Context> | RouteMap<Context>;

/** The same commands with the same parameters, but without actions. */
function inert<Each extends Target>(target: Each): Each {
  if ("loader" in target) return { ...target, loader: async () => () => undefined };
  const map = target as RouteMap<Context>;
  return {
    ...map,
    getRoutingTargetForInput: (input: string) => {
      const found = map.getRoutingTargetForInput(input);
      return found === undefined ? undefined : inert(found);
    },
  } as Each;
}

/** Splits a line as a shell does, up to a pipe or a redirection. */
function wordsOf(line: string): readonly string[] {
  const [call = ""] = /^(?:"[^"]*"|'[^']*'|[^|<>;&])*/.exec(line) ?? [];
  return [...call.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replaceAll(/["']/g, ""));
}

/** Without the lines of a here-document. */
function withoutInput(block: string): string {
  return block.replace(/<<'(\w+)'\n[\s\S]*?^\1$/gm, "");
}

function withoutBlocks(text: string): string {
  return text.replace(/^ *```[\s\S]*?^ *```$/gm, "");
}
