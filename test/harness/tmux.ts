import { spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { Launch } from "../../src/ports/harness.ts";

// Generous: machines are shared and slow.
const defaultTimeout = 90_000;

let servers = 0;

/** A terminal in a separate tmux server. */
export function createTmux(folder: string) {
  // A server that is ending still answers under its name for a moment.
  const server = `test-${++servers}`;
  const call = (...args: readonly string[]) => {
    const env = { ...process.env, TMUX_TMPDIR: folder, TMUX: undefined };
    const { status, stdout, stderr } = spawnSync("tmux", ["-L", server, "-f", "/dev/null", ...args], {
      env,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const target = ["-t", "=agent:"];
  const look = (format: string) => call("display-message", "-p", ...target, format).trim();
  const tmux = {
    open({ argv, env }: Pick<Launch, "argv" | "env">, cwd: string) {
      // Otherwise the server replaces the program's PATH with its own, or with its caller's.
      const variables = Object.entries({ ...env, TERM: "tmux-256color" }).map(([name, value]) => `${name}=${value}`);
      const size = ["-x", "100", "-y", "40"];
      // The option is set before the program can end.
      call("new-session", "-d", "-s", "keeper", "--", "sleep", "100000");
      call("set-option", "-g", "remain-on-exit", "on");
      call("new-session", "-d", "-s", "agent", ...size, "-c", cwd, "--", "env", "-i", ...variables, ...argv);
    },
    /** One bracketed paste, followed directly by the keys. */
    paste(text: string, ...keys: readonly string[]) {
      call("set-buffer", "-b", "message", "--", text);
      const press = keys.length === 0 ? [] : [";", "send-keys", ...target, ...keys];
      call("paste-buffer", "-p", "-d", "-b", "message", ...target, ...press);
    },
    /** Typed text, followed directly by the keys. */
    type(text: string, ...keys: readonly string[]) {
      call(
        "send-keys",
        ...target,
        "-l",
        "--",
        text,
        ...(keys.length === 0 ? [] : [";", "send-keys", ...target, ...keys]),
      );
    },
    press: (...keys: readonly string[]) => void call("send-keys", ...target, ...keys),
    screen: () => call("capture-pane", "-p", ...target),
    title: () => look("#{pane_title}"),
    pid: () => Number(look("#{pane_pid}")),
    /** The exit code, or the negative number of the signal; undefined while the program runs. */
    dead() {
      const [isDead, status, signal] = look("#{pane_dead},#{pane_dead_status},#{pane_dead_signal}").split(",");
      if (isDead !== "1") return undefined;
      if (status === "" && signal === "") {
        // The server sometimes misses the end of a child, and checks again only after the next end.
        call("run-shell", "true");
        return undefined;
      }
      return status === "" ? -Number(signal) : Number(status);
    },
    close() {
      call("kill-server");
    },
  };
  return tmux;
}

/** Polls until the condition holds. */
export async function until<T>(what: string, look: () => T | undefined | false): Promise<T> {
  for (const end = Date.now() + defaultTimeout; Date.now() < end; await delay(20)) {
    const found = look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error(`Timed out waiting for: ${what}.`);
}
