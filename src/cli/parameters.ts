import { listWorkflows } from "../home/workflows.ts";
import type { Context } from "./context.ts";

/** Parameters that several commands share. */

export const json = { kind: "boolean", brief: "Print one JSON document", default: false, withNegated: false } as const;

export function offerWorkflows(this: Context): readonly string[] {
  return listWorkflows(this).map(({ name }) => name);
}

export const reference = {
  parse: String,
  proposeCompletions: offerWorkflows,
  placeholder: "NAME|FILE",
  brief: "A workflow's name, or a path to its file (anything with a / or ending in .yml)",
} as const;

export function wholeNumber(least: number, most: number): (input: string) => number {
  return (input) => {
    const number = /^-?\d+$/.test(input) ? Number(input) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new Error(`"${input}" is not a whole number from ${least} to ${most}.`);
  };
}

export function flag(brief: string) {
  return { kind: "boolean", brief, default: false, withNegated: false } as const;
}

/** A flag that takes a text. */
export function textFlag<const P extends string>(placeholder: P, brief: string) {
  return { kind: "parsed", parse: String, optional: true, placeholder, brief } as const;
}

/** A flag that takes a text and may be given several times. */
export function listFlag<const P extends string>(placeholder: P, brief: string) {
  return { ...textFlag(placeholder, `${brief}; may be given several times`), variadic: true } as const;
}

export function numberFlag(placeholder: string, brief: string, least: number, most: number) {
  return { kind: "parsed", parse: wholeNumber(least, most), optional: true, placeholder, brief } as const;
}

/** The last line of a command's help. */
export const exitCodeHelp = (failed: string) => `Exit codes: 0 ok, 1 ${failed}, 2 wrong usage, 3 no such workflow`;
