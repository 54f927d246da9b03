import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { eventually } from "../agents/stage.ts";
import { root } from "../documents.ts";
import { startCommands, withoutColours } from "./agent-stage.ts";
import { atTerminal } from "./at-terminal.ts";

vi.setConfig({ testTimeout: 240_000 });

/** An agent that a person talks to, and whose work a person merges. */
const flow = `name: flow
version: 1
roles: { worker: { mode: session, prompt: work, window: worker, keep: true } }
states:
  todo: { waits_for: slot, next: desk }
  desk: { agent: { role: worker, prompt: work }, respawn_prompt: again, waits_for: human, ask: Go on, next: shown }
  shown: { waits_for: human, ask: Look at the work, next: merged }
  merged: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: desk, by: human, hooks: [acquire_workspace] }
  - { from: desk, to: shown, by: human }
  - { from: shown, to: desk, by: human }
  - { from: shown, to: merged, by: human }
  - { from: any, to: dropped, by: human, hooks: [kill_session] }
prompts: { work: "Work on {summary}.", again: "Go on with {summary}." }
`;
const script = `roles:
  worker:
    - { when: { prompt: "Work on" }, steps: [{ say: "At your service." }] }
    - { steps: [{ say: "I heard you." }] }
`;

const start = () => startCommands(script, { flow });

test("tasks are shown live in groups, read, answered and cancelled with keys alone, and each key shows its command", async () => {
  const stage = await start();
  const { base, env, main, repository, atDesk, until } = stage;
  const screen = atTerminal([process.execPath, main, "dashboard"], {
    base,
    env,
    folder: repository,
    columns: 140,
    rows: 40,
  });
  await screen.shows(/No task is here\.[\s\S]*c creates one/);
  // A task is created with keys, and appears by itself.
  screen.press("c");
  await screen.shows(/New task/);
  screen.say("Stronger");
  await screen.shows(/coffee#1 is created\. {2}\$ signalbox task create/);
  const id = await atDesk("weaker");
  // The list rests at its top again once no key was pressed for a while.
  await screen.shows(/Needs you 1.*\n.*coffee#2 +About weaker[\s\S]*Running 1.*\n.*coffee#1 +Stronger/);

  // Search, and go to the task that needs the person.
  screen.press("/");
  screen.say("weaker");
  await screen.shows(/Needs you 1.*\n.*coffee#2/);
  await screen.shows(/coffee#2 About weaker\n.*\[explain\]/);
  // Every tab of the detail.
  screen.press("i");
  await screen.shows(/\[explain\][\s\S]*waits for a person/);
  screen.press("Tab");
  await screen.shows(/\[task file\][\s\S]*summary: About weaker/);
  screen.press("Tab");
  await screen.shows(/\[history\][\s\S]*task\.created/);
  screen.press("Tab");
  await screen.shows(/\[terminal\][\s\S]*At your service\./);
  screen.press("Tab");
  await screen.shows(/\[diff 0\][\s\S]*changed nothing yet/);
  screen.press("Tab");
  await screen.shows(/\[findings\][\s\S]*have found nothing/);
  // Tab goes round, back to the list.
  screen.press("Tab");

  // Peek, and reply in place.
  screen.press("Space");
  await screen.shows(/── Peek[\s\S]*At your service\.[\s\S]*send>/);
  screen.say("Use more beans");
  await screen.shows(/The message to worker.* is on its way|coffee#2: /);
  await stage.untilRun((run) => run.task === id && run.what === "I heard you.");

  // What is not allowed says why; what cannot be undone asks, and Enter is no answer.
  screen.press("D");
  await screen.shows(/coffee#2: The task is not over\./);
  screen.press("x");
  await screen.shows(/Cancel the task ──[\s\S]*Press y to do it/);
  // A key that comes right after the question is no answer; one that comes after the answer clears what it says.
  await eventually(async () => {
    if (!screen.screen().includes("Press y to do it")) return true;
    screen.press("Home");
    return undefined;
  });
  expect((await stage.task(id)).outcome).toBeNull();
  screen.press("x");
  await screen.shows(/Press y to do it/);
  await eventually(async () => {
    screen.press("y");
    return (await stage.task(id)).outcome === "cancelled" || undefined;
  });
  await until(id, ({ phase }) => phase === "over");
  // Escape closes what is open, then ends the search.
  await eventually(async () => {
    screen.press("Escape");
    return /Running 1.*\n.*coffee#1[\s\S]*▸ Over 1/.test(screen.screen()) || undefined;
  });
  screen.press("Home");
  screen.press("z");
  await screen.shows(new RegExp(`\\$ signalbox task cancel ${id}[\\s\\S]*signalbox task create --from ${id}`));
  screen.press("q");
  screen.press(":");
  await screen.shows(/── Command/);
  screen.say("log");
  await screen.shows(new RegExp(`\\$ signalbox task create[\\s\\S]*\\$ signalbox task cancel ${id}`));
  screen.press("q");

  // Any command runs in this terminal, which comes back to the same place.
  screen.press(":");
  await screen.shows(/── Command/);
  screen.say("task show 1");
  await screen.shows(/\$ signalbox task show 1\n[\s\S]*Press a key to return to the dashboard\./);
  screen.press("Enter");
  await screen.shows(/Running 1.*\n›● coffee#1/);

  // The other screens.
  for (const [key, title, shown] of [
    ["a", "Agents", /worker#1/],
    ["e", "Events", /task\.moved/],
    ["p", "Problems", /There are no problems/],
    ["m", "Merge line", /No merge waits/],
    ["u", "Usage", /total/],
    ["t", "Tasks", /Running 1/],
  ] as const) {
    screen.press("g", key);
    await screen.shows(new RegExp(`\\[${title}\\][\\s\\S]*${shown.source}`));
  }
  // A small terminal gets one sentence.
  screen.tmux("resize-window", "-x", "60", "-y", "10");
  await screen.shows(/Signalbox needs 80 × 24 characters; this terminal has 60 ×\s+10\./);
  screen.tmux("resize-window", "-x", "1", "-y", "1");
  screen.tmux("resize-window", "-x", "80", "-y", "24");
  await screen.shows(/Running 1.*\n›● coffee#1/);
  screen.press("q");
  await screen.shows(/^it ended with 0\n(?=[\s\S]*^icanon)(?=[\s\S]*^echo)/m);
  expect(screen.screen()).not.toContain("Running");
});

test("the last picture is marked as old while there is no daemon, and goes on with the next one", async () => {
  const { base, env, main, repository, atDesk, killDaemon, restart, signalbox } = await start();
  const id = await atDesk("stronger");
  const screen = atTerminal([process.execPath, main, "dashboard"], {
    base,
    env,
    folder: repository,
    columns: 100,
    rows: 24,
  });
  await screen.shows(/Needs you 1.*\n.*coffee#1/);
  await killDaemon();
  await screen.shows(/old since .*: no daemon[\s\S]*coffee#1[\s\S]*The daemon does not answer/);
  screen.press("x");
  await screen.shows(/nothing can be done: signalbox up/);
  await restart();
  await signalbox(["task", "cancel", id]);
  await screen.shows(/0 need you[\s\S]*▸ Over 1/);
});

test("signalbox alone opens the dashboard in a project that has tasks; without a terminal it prints lines", async () => {
  const { base, env, main, repository, atDesk, follow, signalbox } = await start();
  const id = await atDesk("stronger");
  const screen = atTerminal([process.execPath, main], { base, env, folder: repository, columns: 100, rows: 24 });
  await screen.shows(/\[Tasks\][\s\S]*Needs you 1.*\n›▲ coffee#1/);
  const dumb = atTerminal(["env", "TERM=dumb", process.execPath, main, "dashboard"], { base, env, folder: repository });
  const lines = follow(["dashboard"]);
  await eventually(async () => /task\.created/.test(lines.said()) || undefined);
  expect(lines.said()).toBe(withoutColours(lines.said()));
  expect(lines.said()).toMatch(new RegExp(`${id} +task\\.created`));
  screen.press("b");
  await screen.shows(/\$ signalbox events --follow[\s\S]*New events are shown here/);
  screen.press("C-c");
  await screen.shows(/\[Tasks\][\s\S]*Needs you 1/);
  await dumb.shows(/task\.created/);
  await signalbox(["task", "cancel", id]);
  await eventually(async () => /dropped/.test(lines.said()) || undefined);
  expect(await lines.interrupt()).toBe(0);
});

test("however it ends, the terminal is as before, and an error is printed after", async () => {
  const { base, env, main, repository } = await start();
  const at = (...argv: readonly string[]) => atTerminal(argv, { base, env, folder: repository });
  const dashboard = [process.execPath, main, "dashboard", "--mouse"];
  const restored = /(?=[\s\S]*^icanon)(?=[\s\S]*^echo)/m;
  const cursor = (screen: ReturnType<typeof at>) =>
    screen.tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{mouse_any_flag} #{wrap_flag}").trim();
  const pidOf = (screen: ReturnType<typeof at>) => {
    const shell = screen.tmux("display-message", "-p", "#{pane_pid}").trim();
    return Number(execFileSync("ps", ["-o", "pid=", "--ppid", shell], { encoding: "utf8" }).trim());
  };
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) {
    const screen = at(...dashboard);
    await screen.shows(/No task is here/);
    expect(cursor(screen)).toBe("0 1 1 0");
    process.kill(pidOf(screen), signal);
    await screen.shows(/it ended with \d+/);
    await screen.shows(restored);
    expect([signal, cursor(screen)]).toEqual([signal, "1 0 0 1"]);
  }
  const stopped = at(...dashboard);
  await stopped.shows(/No task is here/);
  stopped.press("C-c");
  await stopped.shows(restored);
  expect(cursor(stopped)).toBe("1 0 0 1");

  // A shell with jobs.
  const shell = at("bash", "--norc", "-i");
  shell.say(`'${process.execPath}' '${main}' dashboard`);
  await shell.shows(/No task is here/);
  shell.press("C-z");
  await shell.shows(/Stopped/);
  expect(cursor(shell)).toBe("1 0 0 1");
  shell.say("stty -a | grep -o -- '-*icanon\\|-*echo\\b'");
  await shell.shows(/^icanon\necho$|^echo\nicanon$/m);
  shell.say("fg");
  await shell.shows(/No task is here/);
  expect(cursor(shell)).toBe("0 1 0 0");
  shell.press("q");
  await shell.shows(/Stopped/);

  const planted = join(base, "planted.mts");
  writeFileSync(
    planted,
    `import { runDashboard } from ${JSON.stringify(join(root, "src/tui/dashboard.ts"))};
const never = () => new Promise<never>(() => {});
const ports = { call: never, follow: never, openTerminal: never, describe: () => "", runHere: never, offers: never, edit: never };
setTimeout(() => { throw new Error("planted"); }, 1000);
const looks = { depth: 256, isLight: false, isAscii: false } as const;
await runDashboard(ports as never, { project: undefined, looks, hasMouse: true, rings: true, keys: {} });
`,
  );
  const failed = at(process.execPath, planted);
  await failed.shows(/Error: planted[\s\S]*it ended with 1/);
  await failed.shows(restored);
  expect(cursor(failed)).toBe("1 0 0 1");
});
