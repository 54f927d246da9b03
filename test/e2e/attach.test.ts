import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { eventually } from "../agents/stage.ts";
import { startCommands } from "./agent-stage.ts";
import { atTerminal } from "./at-terminal.ts";

vi.setConfig({ testTimeout: 240_000 });

const script = `roles:
  worker:
    - { when: { prompt: "Work on" }, steps: [{ say: "At your service." }] }
    - { steps: [{ say: "You said: {prompt}" }] }
`;

test("a person attaches inside their own tmux, talks to the agent, and returns", async () => {
  const { atDesk, signalbox, base, env, main, repository, untilRun, types } = await startCommands(script);
  const id = await atDesk("stronger");
  const socket = join(base, "outer.sock");
  const outer = (...args: readonly string[]) =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], { env, cwd: repository, encoding: "utf8" });
  onTestFinished(() => {
    outer("kill-server");
  });
  const line = `'${process.execPath}' '${main}' task attach coffee/stronger; echo "it ended with $?"; sleep 600`;
  outer("new-session", "-d", "-x", "120", "-y", "40", "sh", "-c", line);
  const screen = () => outer("capture-pane", "-p");
  const shows = (what: RegExp) =>
    eventually(
      async () => what.test(screen()) || undefined,
      60_000,
      async () => screen(),
    );

  await shows(/At your service\.[\s\S]*coffee\/stronger/);
  await shows(/F12 or Ctrl-Q d: leave/);
  await untilRun(({ watchers }) => watchers === 1);
  expect((await signalbox(["agent", "ps", "--json"])).stdout).toContain('"watchers": 1');
  expect(await types(id)).toContain("task.attended");
  outer("send-keys", "-l", "from the keyboard");
  await shows(/from the keyboard/);
  // A key immediately after typed text counts as part of it; people are slower.
  await new Promise((resolve) => setTimeout(resolve, 300));
  outer("send-keys", "Enter");
  await shows(/You said: from the keyboard/);
  outer("send-keys", "F12");
  await shows(/You are back[\s\S]*it ended with 0/);
  await untilRun(({ watchers, activity }) => watchers === 0 && activity === "idle");
});

test("without a terminal the command is printed, and it runs unchanged", async () => {
  const { atDesk, signalbox, base, env, repository } = await startCommands(script);
  await atDesk("stronger");
  const { code, stdout, stderr } = await signalbox(["task", "attach"]);
  expect(code).toBe(1);
  expect(stderr).toContain("This is not a terminal");
  const socket = join(base, "outer.sock");
  const outer = (...args: readonly string[]) =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], { env, cwd: repository, encoding: "utf8" });
  onTestFinished(() => {
    outer("kill-server");
  });
  outer("new-session", "-d", "-x", "120", "-y", "40", "sh", "-c", `${stdout.trim()}; sleep 600`);
  await eventually(async () => /At your service/.test(outer("capture-pane", "-p")) || undefined);
});

test("a person who attaches to an agent that ends, or has ended, is told so, with the command that brings it back", async () => {
  const { atDesk, base, call, env, main, repository, json } = await startCommands(script);
  const id = await atDesk("stronger");
  const sitting = { base, env, folder: repository, columns: 80, rows: 24 };
  const attach = [process.execPath, main, "task", "attach", id];
  const person = atTerminal(attach, sitting);
  await person.shows(/ worker +F12 or Ctrl-Q d: leave/);
  person.press("C-c");
  await person.shows(/The agent has ended\. F12 or Ctrl-Q d: leave/);
  const hasEnded = async () => {
    const { runs } = await json("agent", "ps", "--all");
    return runs.every(({ activity }: { activity: string }) => activity === "ended") || undefined;
  };
  await eventually(hasEnded);
  person.press("F12");
  const back = new RegExp(`You are back\\. worker#1 has ended\\. To bring it back:\\s+signalbox task respawn ${id}`);
  await person.shows(back);

  const again = atTerminal(attach, sitting);
  await again.shows(/ worker \(ended\) [\s\S]*The agent has ended\./);
  again.press("F12");
  await again.shows(back);
  expect(again.everything()).toMatch(/worker#1 has ended\./);
  // The command prints this before it attaches. Tmux then discards whatever a slow terminal has not read yet.
  const { hint } = await call(routes.attachTask, { params: { task: id }, body: {} });
  expect(hint).toMatch(/^worker#1 has ended\.[\s\S]*\nThis is its last screen; keys do nothing there\./);
});
