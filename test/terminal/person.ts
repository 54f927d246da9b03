import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { AttachCommand } from "../../src/ports/terminal.ts";

const run = promisify(execFile);

/** A person who works inside another tmux, and attaches from there. */
export interface Person {
  screen(): Promise<string>;
  press(...keys: readonly string[]): Promise<void>;
  /** Whether the person's attach command has returned. */
  isBack(): Promise<boolean>;
  leave(): Promise<void>;
}

export async function createPerson(folder: string, { argv, env }: AttachCommand): Promise<Person> {
  const socket = join(folder, "persons-own");
  const tmux = async (...args: readonly string[]) =>
    (await run("tmux", ["-S", socket, "-f", "/dev/null", "-u", ...args])).stdout;
  const unset = Object.entries(env).flatMap(([name, value]) => (value === undefined ? ["-u", name] : []));
  const set = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  await tmux(
    ...["set-option", "-g", "remain-on-exit", "on", ";", "set-option", "-g", "status", "off", ";"],
    ...["new-session", "-d", "-x", "150", "-y", "30", "--", "env", ...unset, ...set, ...argv],
  );
  return {
    screen: () => tmux("capture-pane", "-p"),
    press: async (...keys) => void (await tmux("send-keys", ...keys)),
    isBack: async () => (await tmux("display-message", "-p", "#{pane_dead}")).trim() === "1",
    leave: async () => void (await tmux("kill-server").catch(() => "")),
  };
}
