import { existsSync } from "node:fs";
import { nameFrom } from "./register-project.ts";

/** Whether a word names a repository elsewhere. A folder that is there comes first, however it is called. */
export function isAddress(word: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return true;
  return /^[\w.-]+@[\w.-]+:/.test(word) && !existsSync(word);
}

/** The last part of the address, as a project's name. */
export function nameFromAddress(address: string): string {
  const path = address.replace(/[?#].*$/s, "").replace(/\/+$/, "");
  return nameFrom(path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf(":")) + 1).replace(/\.git$/, ""));
}

/** Without the password that may stand in it. */
export function shownAddress(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*:[^/@]*@/i, "$1…@");
}
