import type { ScriptedError } from "./answer.ts";

/** What every vendor says about when to come again. */
export function retryHeaders({ retryAfter }: ScriptedError): Readonly<Record<string, string>> {
  return retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
}
