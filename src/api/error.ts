import { Fault } from "../fault.ts";

/** What every answer but a good one carries. */
export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly retry?: "later" | "never";
    readonly reasons?: readonly { readonly code: string; readonly text: string; readonly fix: string }[];
  };
}

/** The engine, or the daemon, refused a request. Nothing has changed. */
export class Refusal extends Fault {
  readonly reasons: NonNullable<ErrorBody["error"]["reasons"]>;

  constructor(reasons: NonNullable<ErrorBody["error"]["reasons"]>) {
    const hints = [...new Set(reasons.map(({ fix }) => fix).filter((fix) => fix !== ""))];
    super("refused", reasons.map(({ text }) => text).join("\n"), hints.length > 0 ? { hint: hints.join("\n") } : {});
    this.reasons = reasons;
  }
}

/** Turns what came over the wire back into what was thrown. */
export function faultOf({ error }: ErrorBody): Fault {
  if (error.reasons !== undefined) return new Refusal(error.reasons);
  return new Fault(error.code, error.message, {
    ...(error.retry ? { retry: error.retry } : {}),
    ...(error.hint ? { hint: error.hint } : {}),
  });
}

export function errorBodyOf(fault: Fault): ErrorBody {
  const { code, message, hint, retry } = fault;
  const reasons = fault instanceof Refusal ? { reasons: fault.reasons } : {};
  return { error: { code, message, retry, ...(hint === undefined ? {} : { hint }), ...reasons } };
}
