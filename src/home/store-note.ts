import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { Places } from "./places.ts";
import { publishFile } from "./publish-file.ts";

/** How far the store had come when it was last noted beside it: a store that has less has lost something. */
export interface StoreNote {
  /** The last number given to an event or an effect. */
  readonly number: number;
  readonly projects: number;
  /** ISO. */
  readonly at: string;
  /** A person has decided to begin with nothing. */
  readonly isEmptyOnPurpose?: boolean;
}

/** Undefined where there is none, or it is not readable as one: then nothing is known. */
export function readStoreNote({ storeNote }: Pick<Places, "storeNote">): StoreNote | undefined {
  try {
    const { number, projects, at, isEmptyOnPurpose } = JSON.parse(readFileSync(storeNote, "utf8")) as StoreNote;
    if (typeof number !== "number" || typeof projects !== "number" || typeof at !== "string") return undefined;
    return { number, projects, at, ...(isEmptyOnPurpose === true ? { isEmptyOnPurpose } : {}) };
  } catch {
    return undefined;
  }
}

/** Durably, for what happens once. */
export function writeStoreNote({ storeNote }: Pick<Places, "storeNote">, note: StoreNote): void {
  publishFile(storeNote, `${JSON.stringify(note)}\n`, { mode: 0o600 });
}

/**
 * Without fsync, for what happens every second: a power cut may leave an older note, which proves less and claims nothing
 * wrong.
 */
export function updateStoreNote({ storeNote }: Pick<Places, "storeNote">, note: StoreNote): void {
  const draft = `${storeNote}.draft`;
  try {
    writeFileSync(draft, `${JSON.stringify(note)}\n`, { mode: 0o600 });
    renameSync(draft, storeNote);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
