import { readFileSync } from "node:fs";

/** The text of a file that a person keeps, such as a setting of another program; empty if it cannot be read. */
export function readableText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
