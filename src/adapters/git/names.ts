import { Fault } from "../../fault.ts";
import { replaceHidden } from "../../hidden-characters.ts";
import type { FileName } from "../../ports/git.ts";
import type { RunOptions } from "./runner.ts";
import type { Protocol } from "./settings.ts";

/** Returns the ref, or throws. A part may begin with a hyphen: the full name begins with `refs/`, so it is no flag. */
export function checkRef(ref: string): string {
  const isWhole = ref.startsWith("refs/") && ref.length <= 1000 && ref.isWellFormed();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them too.
  const isBad = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.lock(\/|$)|[./]$/.test(ref);
  if (isWhole && !isBad) return ref;
  throw badRef(`${JSON.stringify(ref)} is not a valid name for a ref.`);
}

export function branchRef(branch: string): string {
  return checkRef(`refs/heads/${branch}`);
}

/** Checks a part of a ref that we build: a task's id, the name of a remote. */
export function checkPart(part: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(part)) return part;
  throw badRef(`${JSON.stringify(part)} cannot be part of a ref.`);
}

/** Accepts full ids only: an abbreviated id may become ambiguous. */
export function checkCommit(commit: string): string {
  if (isObjectId(commit)) return commit;
  throw badRef(`${JSON.stringify(commit)} is not the full id of a commit.`);
}

export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** The id that git uses for a ref that does not exist: all zeros, as long as `like`. */
export function noCommit(like: string): string {
  return "0".repeat(like.length);
}

function badRef(message: string): Fault {
  return new Fault("git.bad-ref", message, { hint: "Check the branch's name: git branch --list" });
}

export function fileName(bytes: Uint8Array): FileName {
  return { bytes, text: shown(bytes) };
}

/** Splits what git prints with `-z`. */
export function splitNul(output: Buffer): readonly Buffer[] {
  const parts: Buffer[] = [];
  for (let start = 0; start < output.length; ) {
    const end = output.indexOf(0, start);
    parts.push(output.subarray(start, end === -1 ? output.length : end));
    start = end === -1 ? output.length : end + 1;
  }
  return parts;
}

/** Joins what git reads with `-z`. */
export function joinNul(parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.flatMap((part) => [typeof part === "string" ? Buffer.from(part) : part, Buffer.of(0)]));
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function shown(bytes: Uint8Array): string {
  const text = decoded(bytes);
  // A name must not look like another name.
  if (text !== undefined && !unlike.test(text) && replaceHidden(text, () => "") === text) return text;
  const parts = [...bytes].map((byte) =>
    byte < 0x20 || byte >= 0x7f
      ? `\\${byte.toString(8).padStart(3, "0")}`
      : byte === 0x22 || byte === 0x5c
        ? `\\${String.fromCharCode(byte)}`
        : String.fromCharCode(byte),
  );
  return `"${parts.join("")}"`;
}

/** \p{Cf} includes characters that reverse the writing direction. */
const unlike = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}"\\]/u;

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Files in a git folder that show a running operation, with its name. The first one that exists counts. */
export const operations = [
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["sequencer", "cherry-pick"],
  ["BISECT_LOG", "bisect"],
] as const;

/** Lets git use only the protocol that the remote's address names. */
export function remoteOptions(address: string): RunOptions & { readonly protocols: readonly Protocol[] } {
  return { protocols: [protocolOf(address)], isRemote: true, isLong: true };
}

function protocolOf(address: string): Protocol {
  if (address.startsWith("/") || address.startsWith("file://")) return "file";
  if (address.startsWith("https://")) return "https";
  // The short form, `git@host:path`, is ssh too.
  if (address.startsWith("ssh://") || /^[\w.-]+(@[\w.-]+)?:(?!:|\/\/)/.test(address)) return "ssh";
  throw new Fault("git.remote-refused", "The remote's address does not begin with https:// or ssh://.", {
    hint: "See the address: git remote --verbose",
  });
}
