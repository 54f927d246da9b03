import { resolve } from "node:path";

/** A workflow as the daemon can find it: it is in another folder, so a path must not depend on ours. */
export function workflowReference(reference: string): string {
  return reference.includes("/") || /\.ya?ml$/.test(reference) ? resolve(reference) : reference;
}
