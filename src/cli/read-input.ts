import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { Fault } from "../fault.ts";
import type { Context } from "./context.ts";

/** What is in a file, or with `-` what comes on stdin. */
export async function readInput({ say }: Pick<Context, "say">, path: string): Promise<string> {
  if (path !== "-") return readGiven(path);
  if (process.stdin.isTTY) say("Write, then end with Ctrl-D on a line of its own.");
  return text(process.stdin);
}

function readGiven(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new Fault("not-found", `There is no file ${path}.`, { cause: error });
    throw new Fault("unreadable", `${path} cannot be read (${code}).`, {
      hint: "Look at its permissions.",
      cause: error,
    });
  }
}
