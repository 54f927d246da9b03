import { textOrEmptyAt } from "./json-at.ts";

/** Whether who wrote this may write to the repository: on a public one, anybody can comment and approve. */
export function isInsider(json: unknown): boolean {
  return ["OWNER", "MEMBER", "COLLABORATOR"].includes(textOrEmptyAt(json, "author_association"));
}
