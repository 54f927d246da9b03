import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { HarnessEvent, HarnessOrder, ScreenState } from "../../src/ports/harness.ts";
import { type Stage, until } from "./stage.ts";
import { isAlive, killGroup } from "./turn.ts";

/** An interactive agent in a window of a separate tmux server. */
export interface LiveSession {
  screen(): string;
  state(): ScreenState;
  /** All events from hooks and the transcript so far. */
  events(): Promise<readonly HarnessEvent[]>;
  /** Types a message as a person would, once the input is ready. */
  deliver(text: string): Promise<void>;
  /** Presses Enter once more: programs sometimes take it for a part of the paste. On an empty input it does nothing. */
  submit(): void;
  /** Ends the agent; resolves when it no longer writes. */
  close(): Promise<void>;
}

/** Starts an agent, and waits until it has answered its first prompt. */
export async function openSession(stage: Stage, change: Partial<HarnessOrder>): Promise<LiveSession> {
  const order = stage.order({ mode: "session", ...change });
  const launch = await stage.harness.prepare(order);
  const socket = join(stage.root, "tmux");
  const tmux = (args: readonly string[], input?: string) =>
    spawnSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: order.env.HOME, LANG: "C.UTF-8", TERM: "xterm-256color" },
      ...(input === undefined ? {} : { input }),
    });
  const variables = Object.entries({ ...launch.env, TERM: "tmux-256color" }).map(([name, value]) => `${name}=${value}`);
  const begin = ["set", "-g", "remain-on-exit", "on", ";", "new-session", "-d", "-s", "agent", "-x", "140", "-y", "45"];
  tmux([...begin, "-c", order.folder.replaceAll("#", "##"), "--", "env", "-i", ...variables, ...launch.argv]);

  const screen = () => tmux(["capture-pane", "-p", "-t", "=agent:"]).stdout;
  const title = () => tmux(["display-message", "-p", "-t", "=agent:", "#{pane_title}"]).stdout.trim();
  const state = () => stage.harness.readScreen(screen(), title());
  const session: LiveSession = {
    screen,
    state,
    events: async () => {
      const hooked = linesOf(stage.eventsFile).flatMap((line) => stage.harness.readEvidence(line));
      const told = hooked.flatMap((event) => (event.kind === "session" ? [event] : [])).at(-1);
      const id = told?.id ?? launch.session;
      const transcript = told?.transcript || (id === "" ? "" : await stage.harness.transcriptOf(id, order.folder));
      const written =
        transcript === "" ? [] : linesOf(transcript).flatMap((line) => stage.harness.readTranscript(line));
      return [...hooked, ...written];
    },
    async deliver(text) {
      await until(`a place to type in, on this screen:\n${screen()}`, () => ["ready", "busy"].includes(state()));
      tmux(["load-buffer", "-b", "message", "-"], text);
      tmux(["paste-buffer", "-p", "-d", "-b", "message", "-t", "=agent:"]);
      session.submit();
      if (!stage.candidate.needsEnterAgain) return;
      const isThere = async () =>
        (await session.events()).some((event) => event.kind === "prompted" && event.text.includes(text.slice(0, 9)));
      for (let tries = 0; tries < 60 && !(await isThere()); tries++) {
        await sleep(1000);
        if (["ready", "busy"].includes(state())) session.submit();
      }
    },
    submit: () => void tmux(["send-keys", "-t", "=agent:", "Enter"]),
    async close() {
      const pid = Number(tmux(["display-message", "-p", "-t", "=agent:", "#{pane_pid}"]).stdout);
      tmux(["kill-server"]);
      killGroup(pid, "SIGKILL");
      await until("the agent's end", () => !isAlive(pid));
    },
  };
  if (launch.message !== "") await session.deliver(launch.message);
  return session;
}

function linesOf(file: string): readonly string[] {
  return existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];
}
