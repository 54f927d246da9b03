export type Retry = "later" | "never";

/** A failure outside of the domain. Outcomes inside the domain are returned unions, never a Fault. */
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

/** The message with its hint. */
export function tell({ message, hint }: Fault): string {
  return hint === undefined || hint === "" ? message : `${message} ${hint}`;
}

/** When a retry may succeed, if that is known; milliseconds since 1970. */
export function retryAtOf(error: unknown): number | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const at = typeof cause === "object" && cause !== null && "retryAt" in cause ? cause.retryAt : undefined;
  return typeof at === "number" ? at : undefined;
}
