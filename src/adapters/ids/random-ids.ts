import { randomBytes, randomInt } from "node:crypto";
import type { Ids } from "../../ports/ids.ts";

// Without vowels, so that no id is a word, and without what is easily misread.
const letters = "bcdfghjkmnpqrstvwxz";
const all = `${letters}23456789`;

export const randomIds: Ids = {
  task: () => pick(letters) + Array.from({ length: 4 }, () => pick(all)).join(""),
  secret: () => randomBytes(24).toString("hex"),
};

function pick(from: string): string {
  return from[randomInt(from.length)] ?? "";
}
