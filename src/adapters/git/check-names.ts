import { Fault } from "../../fault.ts";

/** Gives the ref back, or refuses it. A part may begin with a hyphen: whole names begin with `refs/`, so no option does. */
export function checkRef(ref: string): string {
  const isWhole = ref.startsWith("refs/") && ref.length <= 1000 && ref.isWellFormed();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them, and so do we.
  const isBad = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.lock(\/|$)|[./]$/.test(ref);
  if (isWhole && !isBad) return ref;
  throw badRef(`${JSON.stringify(ref)} is no name for a ref.`);
}

export function branchRef(branch: string): string {
  return checkRef(`refs/heads/${branch}`);
}

/** A part of a ref that we make ourselves: a task's id, the name of a remote. */
export function checkPart(part: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(part)) return part;
  throw badRef(`${JSON.stringify(part)} cannot be part of a ref.`);
}

/** Whole ids only: a short one may come to mean another commit. */
export function checkCommit(commit: string): string {
  if (isObjectId(commit)) return commit;
  throw badRef(`${JSON.stringify(commit)} is no whole id of a commit.`);
}

export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** What git calls a ref that is not there. */
export function noCommit(like: string): string {
  return "0".repeat(like.length);
}

function badRef(message: string): Fault {
  return new Fault("git.bad-ref", message, { hint: "Look at the branch's name: git branch --list" });
}
