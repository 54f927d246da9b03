import type { AuthorsPromise, Gate, PromisedEvidence, Scalar } from "./workflow.ts";

// The promises of authors, each with its own words.

type By = readonly string[] | undefined;

export const merged: PromisedEvidence = { kind: "merged", key: "{ merged: true }" };
export const testsPassed: PromisedEvidence = { kind: "tests", key: "{ tests: passed }" };

export function gatePassed(section: string, verdict: Gate["verdict"], by: By): PromisedEvidence {
  const parts = [`gate: "## ${section}"`, ...(verdict === undefined ? [] : [`verdict: ${verdict}`]), ...writeBy(by)];
  return { kind: "gate", section, verdict, by, key: `{ ${parts.join(", ")} }` };
}

export function answered(fields: Readonly<Record<string, Scalar>>, by: By): PromisedEvidence {
  const said = Object.entries(fields).map(([field, value]) => `${field}: ${writeScalar(value)}`);
  return { kind: "result", fields, by, key: `{ ${[`result: { ${said.join(", ")} }`, ...writeBy(by)].join(", ")} }` };
}

export function after(to: string, evidence: PromisedEvidence): AuthorsPromise {
  return { kind: "after", written: `{ to: ${to}, after: ${evidence.key} }`, to, evidence };
}

export function neverBy(to: string, roles: readonly string[]): AuthorsPromise {
  return { kind: "never_by", written: `{ to: ${to}, never_by: ${writeWords(roles)} }`, to, roles };
}

export function neverSameRunAs(role: string, other: string): AuthorsPromise {
  return { kind: "never_same_run_as", written: `{ role: ${role}, never_same_run_as: ${other} }`, role, other };
}

export function within(visits: number, of: string): AuthorsPromise {
  return { kind: "within", written: `{ within: ${visits}, of: ${of} }`, visits, of };
}

function writeBy(by: By): readonly string[] {
  return by === undefined ? [] : [`by: ${writeWords(by)}`];
}

function writeWords(words: readonly string[]): string {
  return words.length === 1 ? (words[0] ?? "") : `[${words.join(", ")}]`;
}

function writeScalar(value: Scalar): string {
  return typeof value === "string" && !/^[A-Za-z][\w-]*$/.test(value) ? JSON.stringify(value) : String(value);
}
