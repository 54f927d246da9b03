import type { HarnessOrder } from "../../ports/harness.ts";

/** The prompt with what this harness cannot be told in another way. */
export function promptText(order: HarnessOrder, { system }: { readonly system: boolean }): string {
  const parts = [
    ...(system && order.system !== "" ? [order.system] : []),
    order.prompt,
    ...(order.schema === undefined ? [] : [schemaText(order.schema)]),
  ];
  return parts.join("\n\n");
}

/** Systems take arguments up to a length. One that begins with a dash would be taken for an option. */
export function fitsArgument(prompt: string): boolean {
  return prompt !== "" && !prompt.startsWith("-") && Buffer.byteLength(prompt) <= 64 * 1024;
}

function schemaText(schema: unknown): string {
  return [
    "End your answer with one JSON value that fits this JSON schema, in a fence marked json, and with nothing after it:",
    "```json",
    JSON.stringify(schema),
    "```",
  ].join("\n");
}
