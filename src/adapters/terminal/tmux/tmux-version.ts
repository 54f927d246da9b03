import { spawn } from "node:child_process";
import { Fault } from "../../../fault.ts";
import { environment } from "./environment.ts";
import { missing } from "./run-tmux.ts";

const needed = [3, 2] as const;
const timeout = 10_000;

/** Makes sure that tmux is there and new enough. */
export async function checkVersion(program: string): Promise<void> {
  const said = await askVersion(program);
  const [, major, minor] = /(\d+)\.(\d+)/.exec(said) ?? [];
  // Versions between releases have no number.
  if (major === undefined || minor === undefined) return;
  const isOld = Number(major) < needed[0] || (Number(major) === needed[0] && Number(minor) < needed[1]);
  if (!isOld) return;
  throw new Fault("terminal.old", `${said.trim()} is too old: Signalbox needs tmux ${needed.join(".")} or newer.`, {
    hint: "Install a newer tmux, and make sure that it is the first on the PATH of the daemon.",
  });
}

function askVersion(program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["-V"], {
      cwd: "/",
      env: environment(),
      stdio: ["ignore", "pipe", "ignore"],
      timeout,
    });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString("utf8");
    });
    child.on("error", (error) => reject(missing(program, error)));
    child.on("close", () => resolve(said));
  });
}
