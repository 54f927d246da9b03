import { Fault } from "../../../fault.ts";

/** Makes sure that a socket can be there: systems have little room for its path. */
export function checkSocket(path: string): void {
  const most = process.platform === "darwin" ? 103 : 107;
  const size = Buffer.byteLength(path);
  if (size <= most) return;
  throw new Fault("terminal.socket", `The path of the tmux socket has ${size} bytes, and may have ${most}: ${path}`, {
    hint: "Put SIGNALBOX_HOME in a folder with a shorter path.",
  });
}
