import type { Call } from "../api/client.ts";
import { errorBodyOf } from "../api/error.ts";
import { Fault } from "../fault.ts";
import { createCall } from "./connect.ts";
import type { Context } from "./context.ts";
import { exitCodeOfError, exitCodes } from "./exit-code.ts";
import { writeFailure } from "./write-failure.ts";
import { writeJson } from "./write-json.ts";

/** What a command does with each of the things that it was given. */
interface Verb<Answer> {
  /** Undefined where there is nothing to tell, because the person said no. */
  act(context: Context, call: Call, reference: string): Promise<Answer>;
  tell(context: Context, answer: Answer, reference: string): void;
  /** Whether an answer counts as a failure. */
  isFailed?(answer: Answer): boolean;
}

/**
 * Does the same with each of several tasks, or agents, or projects, one after the other. One that fails does not stop the
 * others; the exit code is that of the first that failed. Of a single one everything is told as if there were no others.
 */
export async function forEach<Answer>(
  context: Context,
  references: readonly string[],
  json: boolean,
  { act, tell, isFailed = () => false }: Verb<Answer>,
): Promise<void> {
  const call = createCall(context);
  const fail = (code: number) => {
    context.process.exitCode ||= code;
  };
  const [only = "", ...others] = [...new Set(references)];
  if (others.length === 0) {
    const answer = await act(context, call, only);
    if (isFailed(answer)) fail(exitCodes.failed);
    return json ? context.print(writeJson(answer)) : tell(context, answer, only);
  }
  const results: unknown[] = [];
  for (const reference of [only, ...others]) {
    const own = json ? context : named(context, reference);
    try {
      const answer = await act(own, call, reference);
      if (isFailed(answer)) fail(exitCodes.failed);
      if (json) results.push({ reference, answer, error: null });
      else tell(own, answer, reference);
    } catch (error) {
      fail(exitCodeOfError(error));
      if (json && error instanceof Fault) results.push({ reference, answer: null, ...errorBodyOf(error) });
      else own.say(writeFailure(context, error));
    }
  }
  if (json) context.print(writeJson({ results }));
}

/** Puts in front of everything what it is about. */
function named(context: Context, reference: string): Context {
  const about = (text: string) => `${reference}: ${text.replaceAll("\n", `\n${" ".repeat(reference.length + 2)}`)}`;
  return { ...context, print: (text) => context.print(about(text)), say: (text) => context.say(about(text)) };
}
