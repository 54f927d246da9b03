export type Retry = "later" | "never";

/** Something outside failed. What can happen inside the domain is a returned union, never a Fault. */
export class Fault extends Error {
  readonly code: string;
  readonly retry: Retry;
  readonly hint: string | undefined;

  constructor(code: string, message: string, options: { retry?: Retry; hint?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "Fault";
    this.code = code;
    this.retry = options.retry ?? "never";
    this.hint = options.hint;
  }
}

/** What went wrong, and what to do about it. */
export function tell({ message, hint }: Fault): string {
  return hint === undefined || hint === "" ? message : `${message} ${hint}`;
}
