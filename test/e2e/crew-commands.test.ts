import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { eventually } from "../agents/stage.ts";
import { mergedTickets } from "../merged-tickets.ts";
import { startCommands } from "./agent-stage.ts";
import { atTerminal } from "./at-terminal.ts";

vi.setConfig({ testTimeout: 240_000 });

const script = `roles:
  worker:
    - when: { prompt: "Slow" }
      steps: [{ write: { file: "slow.txt", text: "begun" } }, { commit: "Begin" }, { write: { file: "more.txt", text: "kept" } }, { think: 10m }]
    - when: { turn: 1 }
      steps: [{ write: { file: "{id}.txt", text: "one" } }, { commit: "Work on {summary}" }, { usage: { input: 100, output: 10, cost: 0.25 } }]
    - steps: [{ append: { file: "{id}.txt", text: "two" } }, { commit: "More of {summary}" }, marker]
`;
const ticket = (id: string, title: string, deps = "") =>
  `---\nid: ${id}\nstatus: open\ndeps: [${deps}]\nlinks: []\ntype: task\npriority: 2\n---\n# ${title}\n`;

test("a crew of scripted agents without a script commits a note for each ticket, and the notes are merged", async () => {
  const { signalbox, json, repository, git } = await startCommands();
  mkdirSync(join(repository, ".tickets"));
  for (const id of ["c-1", "c-2"]) writeFileSync(join(repository, ".tickets", `${id}.md`), ticket(id, `Brew ${id}`));
  git(repository, "add", "-A");
  git(repository, "commit", "-qm", "tickets");
  expect(await signalbox(["crew", "spawn", "2"])).toMatchObject({
    code: 0,
    stderr: "To let them work through tickets: signalbox crew run\n",
  });
  const run = await signalbox(["crew", "run"]);
  expect(run.stderr).toMatch(
    /^2 ready: .*\nwarning: Work is merged into main without asking you\. Nothing is tested before that: no test command was found\..*\n.*--workflow default\n/,
  );
  const more = await signalbox(["crew", "spawn", "1"]);
  expect(more.stderr).toMatch(
    /^crew run is on: it begins with ready tickets \(workflow crew\) at once\.\nwarning: Work is merged into main without asking you\..*\n/,
  );
  expect(more.stderr).not.toContain("signalbox crew run\n");
  await eventually(async () => {
    const { tasks } = await json("task", "list", "--all");
    expect(tasks.filter(({ held }: { held: unknown }) => held !== null)).toEqual([]);
    const { tickets } = await json("ticket", "list", "--all");
    return tickets.every(({ status }: { status: string }) => status === "closed") ? true : undefined;
  });
  expect(
    git(repository, ...mergedTickets)
      .split("\n")
      .filter(Boolean)
      .sort(),
  ).toEqual(["c-1", "c-2"]);
  expect(git(repository, "ls-tree", "--name-only", "HEAD", "notes/").trim().split("\n")).toHaveLength(2);
});

test("a crew works through tickets in the order of their dependencies, also when the daemon is killed, and each command reports what it did", async () => {
  const { signalbox, json, repository, git, daemon, base, env, main, places } = await startCommands(script);
  const write = (id: string, text: string) => writeFileSync(join(repository, ".tickets", `${id}.md`), text);
  const read = (id: string) => readFileSync(join(repository, ".tickets", `${id}.md`), "utf8");
  const none = (await signalbox(["ticket", "list"])).stderr;
  expect(none).toContain("There are no tickets in");
  // The suggested command writes a valid ticket.
  const [advice = ""] = /^ {2}mkdir [\s\S]*/m.exec(none) ?? [];
  execFileSync("sh", ["-e", "-c", advice]);
  expect((await json("ticket", "list", "--ready")).tickets).toMatchObject([
    { id: "first", title: "What is to be done" },
  ]);
  rmSync(join(repository, ".tickets"), { recursive: true });
  expect(await signalbox(["crew", "ps"])).toMatchObject({ code: 0, stdout: "" });
  mkdirSync(join(repository, ".tickets"));
  write("c-1", ticket("c-1", "Grind"));
  write("c-2", ticket("c-2", "Brew", "c-1"));
  write("c-3", ticket("c-3", "Pour", "c-2, c-1"));
  write("c-4", "# No ticket");
  git(repository, "add", "-A");
  git(repository, "commit", "-qm", "tickets");
  const listed = await signalbox(["ticket", "list"]);
  expect(listed.stdout).toMatch(/^c-2 +2 +open +– +c-1 +Brew$/m);
  expect(listed.stderr).toContain("not read: .tickets/c-4.md");
  expect((await signalbox(["ticket", "list", "--ready"])).stdout).toMatch(/^TICKET.*\nc-1 .*Grind\n$/);

  expect(await signalbox(["crew", "spawn", "2"])).toMatchObject({ code: 0, stdout: "A\nB\n" });
  expect((await signalbox(["crew", "clean"])).stderr).toContain("Remove 2 agents of coffee?");
  expect(await signalbox(["crew", "peek", "A"])).toMatchObject({ code: 1, stdout: "" });
  for (const verb of ["kill", "merge"] as const)
    expect((await signalbox(["crew", verb, "A", ...(verb === "kill" ? ["--yes"] : [])])).stderr).toContain("A is idle");
  expect((await signalbox(["crew", "assign", "A", "c-2"])).stderr).toContain("waits for c-1");
  expect((await signalbox(["crew", "assign", "Z", "c-1"])).code).toBe(3);

  const watching = [process.execPath, main, "crew", "d"];
  const screen = atTerminal(watching, { base, env, folder: repository, columns: 110, rows: 12 });
  await screen.shows(
    /^coffee {2}2 agents · 2 idle\n1 ready: c-1\. 2 wait for others: c-2, c-3\. Idle agents get tickets only after: .*\nNot read: c-4\.md\..*\n\n.*\n○ {2}A .*\n○ {2}B /,
  );

  expect((await signalbox(["crew", "run", "--most", "2"])).code).toBe(0);
  await eventually(async () => (read("c-1").includes("status: closed") ? true : undefined));
  await daemon().kill();
  await eventually(async () => {
    // Any command starts the daemon again.
    const { tickets } = await json("ticket", "list", "--all");
    return tickets.every(({ status }: { status: string }) => status === "closed") ? true : undefined;
  });
  const merged = git(repository, ...mergedTickets, "--reverse");
  expect(merged.split("\n").filter(Boolean)).toEqual(["c-1", "c-2", "c-3"]);
  for (const id of ["c-1", "c-2", "c-3"])
    expect(read(id)).toMatch(/\n\nDone by coffee#\d \(\w+\), merged into main with \w{40}\.\n$/);
  const { agents } = await json("crew", "ps");
  const cost = agents.reduce((sum: number, agent: { total_cost_usd: number }) => sum + agent.total_cost_usd, 0);
  expect([agents.length, cost]).toEqual([2, 0.75]);
  expect(Object.keys(agents[0])).toEqual([
    ...["name", "session", "worktree", "branch", "task", "task_assigned_at", "status", "started_at", "step_count"],
    ...["last_step_at", "total_input_tokens", "total_output_tokens", "total_cost_usd"],
  ]);

  write("c-5", ticket("c-5", "Slow"));
  const working = await eventually(async () => {
    const found = (await json("crew", "ps")).agents.find(({ task }: { task: string }) => task === "c-5");
    return found?.status === "working" ? found : undefined;
  });
  expect(working).toMatchObject({
    branch: `agent/${working.name}-c-5`,
    worktree: expect.stringContaining("workspaces"),
  });
  await screen.shows(new RegExp(`\\n● {2}${working.name} +working +c-5 +coffee#\\d`));
  screen.press("q");
  await screen.shows(/^it ended with 0\n/m);
  // The first command after a kill reports the true state, even before the daemon has recovered the agent.
  const before = (await json("crew", "ps")).agents;
  expect((await signalbox(["down"])).code).toBe(0);
  const fixed = ({ last_step_at: _, ...rest }: Record<string, unknown>) => rest;
  expect((await json("crew", "ps")).agents.map(fixed)).toEqual(before.map(fixed));
  expect((await signalbox(["ticket", "close", "c-5"])).stderr).toContain("works on the ticket");
  expect((await signalbox(["crew", "merge", working.name])).stderr).toContain("is working");
  expect(await signalbox(["crew", "kill", working.name, "--yes"])).toMatchObject({ code: 0 });
  const stopped = (await signalbox(["crew", "stop"])).stderr;
  expect(stopped).toContain(`${working.name} continues.`);
  expect(stopped).toContain("signalbox pause --project coffee --now");
  const asked = (await signalbox(["crew", "clean"])).stderr;
  expect(asked).toMatch(new RegExp(`^ {2}${working.name} {2}coffee#4 \\(c-5\\) is cancelled$`, "m"));
  expect(asked).toContain("Cancel 1 task of coffee, and remove 2 agents?");
  const logs = readdirSync(places.runs);
  expect(await signalbox(["crew", "clean", "--yes"])).toMatchObject({ code: 0 });
  // The logs of runs are kept, also those of other tasks.
  expect(readdirSync(places.runs)).toEqual(expect.arrayContaining(logs));
  expect((await json("crew", "ps")).agents).toEqual([]);
  expect(read("c-5")).toBe(ticket("c-5", "Slow"));
  expect((await json("ticket", "show", "c-5")).isTaken).toBe(false);
  expect((await signalbox(["ticket", "start", "c-5"])).stderr).toContain("Its file has changed");
  const started = read("c-5");
  expect((await signalbox(["ticket", "start", "c-5"])).stderr).toContain("It already has this status.");
  expect(read("c-5")).toBe(started);
  expect((await signalbox(["ticket", "note", "c-5", "Too hot."])).stderr).toContain("Its file has changed");
  const noted = read("c-5");
  expect((await signalbox(["ticket", "note", "c-5", "Too hot."])).stderr).toContain("It already has this note.");
  expect(read("c-5")).toBe(noted);
});
