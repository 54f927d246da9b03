/** JSON-RPC 2.0 as one JSON text on each line. */

export type Id = string | number | null;

export interface Request {
  readonly id: Id;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Wants no answer. */
  readonly isNotification: boolean;
}

export type Reply =
  | { readonly jsonrpc: "2.0"; readonly id: Id; readonly result: unknown }
  | { readonly jsonrpc: "2.0"; readonly id: Id; readonly error: { readonly code: number; readonly message: string } };

export const errorCodes = { parse: -32_700, request: -32_600, method: -32_601, params: -32_602, internal: -32_603 };

export function resultOf(id: Id, result: unknown): Reply {
  return { jsonrpc: "2.0", id, result };
}

export function errorOf(id: Id, kind: keyof typeof errorCodes, message: string): Reply {
  return { jsonrpc: "2.0", id, error: { code: errorCodes[kind], message } };
}

/** What was asked in a line; a text says what is wrong with it. Undefined for the answers to questions of ours: we have none. */
export function readRequest(value: unknown): Request | string | undefined {
  if (!isRecord(value) || value.jsonrpc !== "2.0") return "This is no message of JSON-RPC 2.0.";
  const { id, method, params = {} } = value;
  if (method === undefined && ("result" in value || "error" in value)) return undefined;
  if (typeof method !== "string") return "The method must be a text.";
  if (id !== undefined && typeof id !== "string" && typeof id !== "number") return "The id must be a text or a number.";
  if (!isRecord(params)) return "The params must be an object.";
  return { id: id ?? null, method, params, isNotification: id === undefined };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
