import type { Context } from "./context.ts";
import { listWorkflows } from "./find-workflow.ts";

/** Parameters that several commands share. */

export const json = { kind: "boolean", brief: "Print one JSON document", default: false, withNegated: false } as const;

export const reference = {
  parse: String,
  proposeCompletions(this: Context) {
    return listWorkflows(this.home).map(({ name }) => name);
  },
  placeholder: "NAME|FILE",
  brief: "A workflow's name, or a path to its file (anything with a / or ending in .yml)",
} as const;

export function wholeNumber(least: number, most: number): (input: string) => number {
  return (input) => {
    const number = /^\d+$/.test(input) ? Number(input) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new Error(`"${input}" is not a whole number from ${least} to ${most}.`);
  };
}

export function flag(brief: string) {
  return { kind: "boolean", brief, default: false, withNegated: false } as const;
}

/** The last line of a command's help. */
export const exitCodeHelp = (failed: string) => `Exit codes: 0 ok, 1 ${failed}, 2 wrong usage, 3 no such workflow`;
