import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { eventually } from "../agents/stage.ts";

export interface Sitting {
  readonly base: string;
  readonly env: NodeJS.ProcessEnv;
  /** The person's current folder. */
  readonly folder: string;
  readonly columns?: number;
  readonly rows?: number;
}

let count = 0;

/** Runs a command in a real terminal, in a separate tmux. Afterwards the screen shows its exit code. */
export function atTerminal(argv: readonly string[], sitting: Sitting) {
  const { close, ...terminal } = openTerminal(argv, sitting);
  onTestFinished(close);
  return terminal;
}

/** The same, for callers that close it themselves. */
export function openTerminal(argv: readonly string[], { base, env, folder, columns = 100, rows = 30 }: Sitting) {
  const socket = join(base, `person-${count++}.sock`);
  const tmux = (...args: readonly string[]) =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", "-u", ...args], { env, cwd: folder, encoding: "utf8" });
  const words = argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  // Ctrl-C is for the command, and not for this shell.
  const line = `trap : INT; ${words}; echo "it ended with $?"; stty -a | tr ' ' '\\n' | grep -x -e '-\\?echo;\\?' -e '-\\?icanon;\\?'; exec sleep 600`;
  const size = ["-x", String(columns), "-y", String(rows)];
  tmux("set-option", "-g", "status", "off", ";", "new-session", "-d", ...size, "-c", folder, "sh", "-c", line);
  const screen = () => tmux("capture-pane", "-p").trimEnd();
  return {
    screen,
    tmux,
    /** Including the scrollback. */
    everything: () => tmux("capture-pane", "-p", "-S", "-").trimEnd(),
    press: (...keys: readonly string[]) => void tmux("send-keys", ...keys),
    say: (text: string) => void tmux("send-keys", "-l", text, ";", "send-keys", "Enter"),
    shows: (what: RegExp) =>
      eventually(
        async () => what.exec(screen()) ?? undefined,
        60_000,
        async () => screen(),
      ),
    close() {
      try {
        tmux("kill-server");
      } catch {
        // It has ended by itself.
      }
    },
  };
}
