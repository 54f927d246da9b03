import { spawn } from "node:child_process";
import { basename } from "node:path";
import { runInTerminal } from "./run-in-terminal.ts";

/** Editors with windows of their own. Whoever has set one up for commit messages has told it to wait. */
const withWindows = ["code", "code-insiders", "codium", "cursor", "windsurf", "zed", "subl", "atom", "gvim", "mvim"];
const waiting = ["--wait", "-w", "--nofork", "-f"];

/** Opens a folder in an editor. One in the terminal is waited for, others are not. Says what went wrong. */
export function openFolder(editor: string, folder: string): Promise<string | undefined> {
  const words = editor.split(/\s+/).filter((word) => word !== "");
  const [program = "", ...args] = words;
  // What is more than words is the shell's to take apart, as git does it.
  if (!words.every((word) => /^[\w./+:@=-]+$/.test(word)))
    return runInTerminal(["sh", "-c", `${editor} "$@"`, editor, folder], {}, folder);
  if (!withWindows.includes(basename(program))) return runInTerminal([...words, folder], {}, folder);
  return start(program, [...args.filter((arg) => !waiting.includes(arg)), folder], folder);
}

function start(program: string, args: readonly string[], cwd: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "ignore", detached: true, cwd });
    child.on("error", (error: NodeJS.ErrnoException) => resolve(`cannot be started (${error.code})`));
    child.on("spawn", () => {
      child.unref();
      resolve(undefined);
    });
  });
}
