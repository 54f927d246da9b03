import { Fault } from "../fault.ts";

/** Parses a number of a query. */
export function wholeNumber(
  name: string,
  value: string | undefined,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (value === undefined || value === "") return undefined;
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new Fault("request.invalid", `"${name}" must be a whole number from ${least} to ${most}, but is "${value}".`);
}
