import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Fault } from "../fault.ts";
import type { Context } from "./context.ts";

export interface Draft {
  readonly path: string;
  readonly text: string;
  /** The file stays until then, so that nothing is lost that somebody wrote. */
  remove(): void;
}

/** Opens a text in the person's editor and gives what they made of it. */
export async function editText({ process: { env } }: Context, text: string, name: string): Promise<Draft> {
  const editor = env?.VISUAL || env?.EDITOR || (process.stdin.isTTY ? "vi" : "");
  if (editor === "") {
    throw new Fault("usage", "There is no terminal for an editor, and neither VISUAL nor EDITOR names one.", {
      hint: "Hand the text in instead: signalbox task edit TASK --file FILE",
    });
  }
  // Its folder is ours alone: what agents and people write is nobody else's business.
  const path = join(mkdtempSync(join(tmpdir(), "signalbox-edit-")), name);
  writeFileSync(path, text, { mode: 0o600 });
  const remove = () => rmSync(dirname(path), { recursive: true, force: true });
  const failure = await runEditor(editor, path);
  if (failure !== undefined) {
    const isKept = existsSync(path) && readFileSync(path, "utf8") !== text;
    if (!isKept) remove();
    throw new Fault("editor", `The editor ${editor} ${failure}. Nothing has changed.`, {
      hint: isKept ? `What you wrote is kept in ${path}` : "Name another one, such as: export EDITOR=nano",
    });
  }
  return { path, text: readFileSync(path, "utf8"), remove };
}

/** As git does it: what is more than a word is the shell's to take apart. */
function runEditor(editor: string, path: string): Promise<string | undefined> {
  const isWord = /^[\w./+:@-]+$/.test(editor);
  const [command, args] = isWord ? [editor, [path]] : ["sh", ["-c", `${editor} "$@"`, editor, path]];
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "inherit" });
    child.on("error", (error: NodeJS.ErrnoException) => resolve(`cannot be started (${error.code})`));
    child.on("exit", (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(signal === null ? `ended with ${code}` : `was ended by ${signal}`);
    });
  });
}
