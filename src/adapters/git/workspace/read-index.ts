import { hash } from "node:crypto";

/** A file of an index: what it is, and which. Everything else there only makes git faster. */
interface IndexEntry {
  /** Mode, id and stage, as they stand there. */
  readonly is: Buffer;
  readonly path: Buffer;
}

/** What an index stands for; undefined where it is of a kind that is left to git, or broken. */
export type IndexContent = readonly IndexEntry[] | undefined;

/** In a larger one git is faster. */
const mostBytes = 8 * 1024 * 1024;
/** Before the id: times, numbers and the like, with the mode in the middle. */
const [modeAt, idAt] = [24, 40];

/** Reads an index as git's own document on its format describes it, versions 2 and 3. `idLength`: the digits of an id. */
export function readIndex(bytes: Buffer, idLength: number): IndexContent {
  const idSize = idLength / 2;
  const version = bytes.length < 12 + idSize ? 0 : bytes.readUInt32BE(4);
  if (bytes.length > mostBytes || bytes.toString("latin1", 0, 4) !== "DIRC" || (version !== 2 && version !== 3))
    return undefined;
  const end = bytes.length - idSize;
  const entries: IndexEntry[] = [];
  let at = 12;
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + idAt + idSize;
    if (flagsAt + 4 > end) return undefined;
    const flags = bytes.readUInt16BE(flagsAt);
    const isExtended = (flags & 0x4000) !== 0;
    // A file that is only meant to be added has no content yet.
    if (isExtended && (bytes.readUInt16BE(flagsAt + 2) & 0x2000) !== 0) return undefined;
    const nameAt = flagsAt + (isExtended ? 4 : 2);
    const nameEnd = bytes.indexOf(0, nameAt);
    if (nameEnd < 0 || nameEnd >= end) return undefined;
    const is = Buffer.concat([
      bytes.subarray(at + modeAt, at + modeAt + 4),
      bytes.subarray(at + idAt, flagsAt),
      Buffer.of((flags >> 12) & 3),
    ]);
    entries.push({ is, path: bytes.subarray(nameAt, nameEnd) });
    at += Math.floor((nameEnd - at + 8) / 8) * 8;
  }
  return isAlone(bytes, at, end) ? entries : undefined;
}

/** False where it has its greater part in another file, or stands for folders instead of files. */
function isAlone(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; ) {
    if (at + 8 > end) return false;
    const name = bytes.toString("latin1", at, at + 4);
    // What git may leave out begins with a capital.
    if (!/^[A-Z]/.test(name)) return false;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return true;
}

/** Whether its checksum is right: one of ours may not have outlived a power cut. */
export function isSound(bytes: Buffer, idLength: number): boolean {
  const content = bytes.subarray(0, -idLength / 2);
  return hash(idLength === 64 ? "sha256" : "sha1", content, "buffer").equals(bytes.subarray(-idLength / 2));
}

export function isSameContent(one: IndexContent, other: IndexContent): boolean {
  if (one === undefined || other === undefined || one.length !== other.length) return false;
  return one.every(({ is, path }, place) => {
    const same = other[place];
    return same !== undefined && is.equals(same.is) && path.equals(same.path);
  });
}

/** Whether a file or a folder is in it. */
export function hasPath(content: readonly IndexEntry[], path: string): boolean {
  return content.some((entry) => {
    const name = entry.path.toString("utf8");
    return name === path || name.startsWith(`${path}/`);
  });
}
