import { spawn } from "node:child_process";
import { hostname, userInfo } from "node:os";
import { findProgram } from "../find-program.ts";
import { shellWord } from "../shell-quote.ts";

/** Opens a link with the desktop's program; false if there is no desktop, or the program cannot be started. */
export function openBrowser(link: string): Promise<boolean> {
  const { platform, env } = process;
  const isRemote = (env.SSH_CONNECTION ?? "") !== "";
  const hasDesktop = platform === "darwin" || (env.DISPLAY ?? "") !== "" || (env.WAYLAND_DISPLAY ?? "") !== "";
  const program = findProgram(platform === "darwin" ? "open" : "xdg-open", env.PATH ?? "");
  if (isRemote || !hasDesktop || program === "") return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(program, [link], { stdio: "ignore", detached: true });
    child.on("error", () => resolve(false));
    child.on("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

/** How a browser on another machine reaches the port. */
export function fromElsewhere(link: string): string {
  const { port } = new URL(link);
  const [, , host = hostname()] = (process.env.SSH_CONNECTION ?? "").split(" ");
  const target = shellWord(`${userInfo().username}@${host}`);
  return `For a browser on another machine, first run there: ssh -L ${port}:127.0.0.1:${port} ${target}`;
}
