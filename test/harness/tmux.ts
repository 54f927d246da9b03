import { spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { Launch } from "../../src/ports/harness.ts";

// Machines are shared and slow; a test that fails may take its time.
const patience = 90_000;

let servers = 0;

/** A terminal of its own, below a server of its own. */
export function createTmux(folder: string) {
  // A server that is about to end still answers under its name for a moment.
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
      // The server would put its own PATH, or that of whoever called it, in place of the program's.
      const variables = Object.entries({ ...env, TERM: "tmux-256color" }).map(([name, value]) => `${name}=${value}`);
      const size = ["-x", "100", "-y", "40"];
      // The option is set before the program can end.
      call("new-session", "-d", "-s", "keeper", "--", "sleep", "100000");
      call("set-option", "-g", "remain-on-exit", "on");
      call("new-session", "-d", "-s", "agent", ...size, "-c", cwd, "--", "env", "-i", ...variables, ...argv);
    },
    /** One bracketed paste, and the keys right behind it. */
    paste(text: string, ...keys: readonly string[]) {
      call("set-buffer", "-b", "message", "--", text);
      const press = keys.length === 0 ? [] : [";", "send-keys", ...target, ...keys];
      call("paste-buffer", "-p", "-d", "-b", "message", ...target, ...press);
    },
    /** As if typed, and the keys right behind it. */
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
    /** Its exit code, or the number of its signal with a minus; undefined while it lives. */
    dead() {
      const [isDead, status, signal] = look("#{pane_dead},#{pane_dead_status},#{pane_dead_signal}").split(",");
      if (isDead !== "1") return undefined;
      if (status === "" && signal === "") {
        // The server sometimes misses that a child has ended, and looks again when the next one has.
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

/** Looks until it is so. */
export async function until<T>(what: string, look: () => T | undefined | false): Promise<T> {
  for (const end = Date.now() + patience; Date.now() < end; await delay(20)) {
    const found = look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error(`It never happened: ${what}.`);
}
