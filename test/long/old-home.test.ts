import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import type { TaskView } from "../../src/api/tasks.ts";
import { listBackups } from "../../src/home/backups.ts";
import { command } from "../faults/command.ts";
import { createAsk, killDaemons, startDaemon } from "../faults/daemon.ts";
import { readExport } from "../faults/exported-task.ts";
import { createHome, type Home } from "../faults/home.ts";
import { unpackOldHome } from "../old-home.ts";

// A home that an older version has left behind is finished by this one: real git, real terminals, scripted agents.

const projects = ["coffee", "tea", "milk"];

/** Every agent does what its task's state asks for. Those of the old version hung, crashed or were refused. */
const script = JSON.stringify({
  roles: {
    any: [
      {
        when: { status: "planning" },
        steps: [
          { section: { heading: "## Plan", text: "APPROACH: one small file.\nTOUCHING: {id}.txt\n" } },
          { cli: ["task", "update", "--status", "working"] },
          ...work("agent-review"),
        ],
      },
      { when: { status: "working", prompt: "--status reviewing" }, steps: work("reviewing") },
      { when: { status: "working", prompt: "--status agent-review" }, steps: work("agent-review") },
      {
        when: { status: "agent-review" },
        steps: [
          { section: { heading: "## Review", text: "Verdict: PASS\n\nGood, in message {turn} of {session}.\n" } },
          { cli: ["task", "update", "--status", "reviewing"] },
        ],
      },
      { when: { status: "clarification" }, steps: [{ say: "Waiting for an answer." }] },
      { steps: [{ append: { file: "{id}.txt", text: "More work of {id}\n" } }, { commit: "More of {id}" }, "marker"] },
    ],
  },
});

function work(next: string): readonly object[] {
  return [
    { append: { file: "{id}.txt", text: "Work of {id}\n" } },
    { commit: "Work of {id}" },
    { section: { heading: "## Handoff", text: "DONE: {id}.txt\nREMAINING: nothing\n" } },
    { cli: ["task", "update", "--status", next] },
  ];
}

let home: Home;
beforeEach(() => {
  const plain = createHome(undefined, { isEmpty: true });
  const scriptFile = join(plain.base, "script.yml");
  writeFileSync(scriptFile, script);
  home = { ...plain, env: { ...plain.env, SIGNALBOX_SCRIPT: scriptFile, SCRIPTED_AGENT_SPEED: "10" } };
  unpackOldHome(home.base);
  const environment = "environment: [NODE_COMPILE_CACHE, SCRIPTED_AGENT_SPEED]";
  writeFileSync(
    home.places.config,
    `agents: { ${environment}, most: 12 }\nharness: scripted\ntest_command: ["true"]\n`,
  );
});
afterEach(async () => {
  await killDaemons();
  endTerminal();
  home.remove();
});

function endTerminal(): void {
  try {
    execFileSync("tmux", ["-S", home.places.terminal, "kill-server"], { stdio: "ignore" });
  } catch {
    // There was no terminal server.
  }
}

const git = (folder: string, ...args: readonly string[]) =>
  execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();

/** The commits that the user's and the control repositories have, in any branch or ref. */
const commitsOf = (project: string) =>
  [join(home.base, project), join(home.places.control, `${project}.git`)].flatMap((folder) =>
    git(folder, "rev-list", "--all").split("\n"),
  );

test("every task of an old home can be shown, and be finished without losing a commit or a file", {
  timeout: 400_000,
}, async () => {
  const before = new Map(projects.map((project) => [project, commitsOf(project)]));
  await startDaemon(home);
  const ask = createAsk(home);
  const list = async (open: boolean) =>
    (await ask(routes.listTasks, { query: { open: open ? "true" : "false", limit: "200" } })).tasks;
  expect(listBackups(home.places).map(({ kind }) => kind)).toContain("upgrade");

  const all = [...(await list(true)), ...(await list(false))];
  expect(all).toHaveLength(27);
  for (const { id } of all) {
    const params = { task: id };
    for (const route of [routes.getTask, routes.explainTask, routes.listActions, routes.taskGraph, routes.listMessages])
      await ask(route as typeof routes.getTask, { params });
    expect((await ask(routes.listEvents, { query: { task: id, limit: "1000" } })).events.length).toBeGreaterThan(0);
  }
  expect((await command(home, "events")).code).toBe(0);
  expect((await command(home, "task", "list", "--all", "--open", "--closed")).code).toBe(0);

  /** What was refused, by task. A person does the same thing once for each of a task's revisions. */
  const refused = new Map<string, string>();
  const tried = new Set<string>();
  const act = async (task: TaskView) => {
    const verb = verbFor(task);
    if (verb === undefined || tried.has(`${task.id} ${task.revision}`)) return;
    tried.add(`${task.id} ${task.revision}`);
    const [name = "", ...rest] = verb;
    const { code, stderr } = await command(home, "task", name, task.id, ...rest);
    if (code !== 0) refused.set(task.id, `task ${verb.join(" ")}: ${stderr}`);
  };
  const unfinished = async () => {
    const open = await list(true);
    await Promise.all(open.map(act));
    return open.map(({ id, project, number, workflow, status, needs }) => ({
      ...{ task: `${project}#${number}`, workflow, status, needs, refused: refused.get(id) },
    }));
  };
  await expect.poll(unfinished, { timeout: 300_000, interval: 500 }).toEqual([]);

  for (const { id } of all) {
    const { task, events, replayed } = await readExport(home, id);
    expect(replayed, id).toEqual(task);
    expect(events.length).toBeGreaterThan(0);
    expect(["done", "cancelled"]).toContain(task.status);
  }
  for (const project of projects) {
    const after = new Set(commitsOf(project));
    expect(before.get(project)?.filter((commit) => !after.has(commit))).toEqual([]);
    const files = git(join(home.base, project), "ls-tree", "--name-only", "main").split("\n");
    const worked = (await list(false)).filter((task) => task.project === project && task.status === "done");
    expect(files).toEqual(expect.arrayContaining(worked.map(({ id }) => `${id}.txt`)));
    // Agents of the old version that were killed at work had written it, and not committed it.
    expect(files.includes("left.txt")).toBe(project !== "milk");
  }
});

/** The person's answer to what a task needs, as the advice of `task explain` says. */
function verbFor({ status, autostart, needs, workflow }: TaskView): readonly string[] | undefined {
  if (status === "pending" && !autostart) return ["spawn"];
  const [need] = needs;
  if (need === undefined) return undefined;
  if (status === "clarification") return ["answer", "-m", "Arabica, and no sugar"];
  if (need.reason === "effect") return ["retry"];
  if (status === "reviewing") return ["merge"];
  if (status === "stuck" && workflow === "classic")
    return ["request-changes", "--status", "working", "-m", "Once more"];
  return ["continue"];
}
