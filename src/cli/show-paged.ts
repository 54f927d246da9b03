import { spawn } from "node:child_process";
import type { Context } from "./context.ts";
import { visible } from "./visible.ts";

/**
 * Shows a text that may be long: on a terminal with the person's pager, elsewhere as it is. On a terminal nothing of it is
 * obeyed; a file gets every byte, so that a patch can be used.
 */
export async function showPaged(context: Context, text: string): Promise<void> {
  if (text === "") return;
  if (!context.isTerminal || !process.stdin.isTTY) {
    if (context.isTerminal) context.print(text);
    else context.process.stdout.write(text);
    return;
  }
  const { PAGER = "less" } = process.env;
  if (PAGER === "" || PAGER === "cat" || !(await page(PAGER, visible(text)))) context.print(text);
}

/** False where the pager cannot be started. It is taken apart as git does it. */
function page(pager: string, text: string): Promise<boolean> {
  const isWord = /^[\w./+:@-]+$/.test(pager);
  const [command, args] = isWord ? [pager, []] : ["sh", ["-c", pager]];
  // As git has it: what fits on the screen is only printed, and colours are shown.
  const env = { LESS: "FRX", ...process.env };
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["pipe", "inherit", "inherit"], env });
    child.on("error", () => resolve(false));
    child.on("exit", () => resolve(true));
    // Whoever has seen enough closes it.
    child.stdin.on("error", () => {});
    child.stdin.end(text);
  });
}
