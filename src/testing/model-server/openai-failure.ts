import type { Failure, ScriptedError } from "./answer.ts";
import { retryHeaders } from "./retry-headers.ts";

/** How OpenAI says that something went wrong. */
export function openaiFailure(error: ScriptedError): Failure {
  const { status, type, code, message } = failures[error.kind];
  const again = error.retryAfter === undefined ? "" : ` Please try again in ${error.retryAfter}s.`;
  return {
    status,
    body: { error: { message: error.message ?? `${message}${again}`, type, param: null, code } },
    headers: { ...retryHeaders(error), ...error.headers },
  };
}

const failures: Readonly<
  Record<ScriptedError["kind"], { status: number; type: string; code: string | null; message: string }>
> = {
  "rate-limit": {
    status: 429,
    type: "requests",
    code: "rate_limit_exceeded",
    message: "Rate limit reached for requests per minute (RPM): Limit 3, Used 3, Requested 1.",
  },
  authentication: {
    status: 401,
    type: "invalid_request_error",
    code: "invalid_api_key",
    message: "Incorrect API key provided.",
  },
  server: {
    status: 500,
    type: "server_error",
    code: null,
    message: "The server had an error processing your request.",
  },
  overloaded: { status: 503, type: "server_error", code: null, message: "The server is overloaded." },
  overflow: {
    status: 400,
    type: "invalid_request_error",
    code: "context_length_exceeded",
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
  },
};
