import { lastWords } from "../../engine/last-words.ts";
import type { HarnessError } from "../../ports/harness.ts";
import type { ProcessEnd } from "../../ports/processes.ts";

const mostTold = 500;

/** What the end of a program says about its turn; undefined where it ended well. `title` is what people call it. */
export function endedBadly(
  title: string,
  { cause, code, signal, reason }: ProcessEnd,
  errors: string,
): HarnessError | undefined {
  const told = lastWords(errors, mostTold);
  const because = told === "" ? "" : ` It said: ${told}`;
  const error = (kind: HarnessError["kind"], message: string) => ({ kind, message, resetAt: undefined });
  switch (cause) {
    case "start":
      return error("start", reason || `${title} could not be started.`);
    case "time":
      return error("timeout", `${title} was ended because its time was over.${because}`);
    case "output":
      return error("other", `${title} was ended because it printed too much.`);
    case "killed":
      return error("other", `${title} was ended by us.`);
    case "exit":
      if (code === 0) return undefined;
      return error(
        "other",
        `${title} ${code === undefined ? `was ended by ${signal}` : `ended with ${code}`}.${because}`,
      );
  }
}
