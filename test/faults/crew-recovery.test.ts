import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { processesWith } from "../agents/stage.ts";
import { root } from "../documents.ts";
import { mergedTickets } from "../merged-tickets.ts";
import { removeFolder } from "../remove-folder.ts";
import { invariantProblems } from "./crew/eight-invariants.ts";
import { openCrew } from "./crew/interrupted-crew.ts";
import { until } from "./look-at-system.ts";

/** The built-in workflow, with a clock that a test can wait for. */
const quick = readFileSync(join(root, "workflows/crew.yml"), "utf8")
  .replace("name: crew", "name: quick")
  .replace("stall: 5m", "stall: 15s")
  .replace("first: 2s", "first: 100ms")
  .replace("waits_for: 60s", "waits_for: 1s");

/** What happens to each ticket's agent while no daemon runs. Agents with a counter do it only once. */
const script = (waits: string) => `roles:
  worker:
    - { when: { prompt: Gone, counter: { tries: 0 } }, steps: [{ count: tries }, { write: { file: "{id}.txt", text: one } }, { commit: One }, { think: 10m }] }
    - { when: { prompt: Dirty, counter: { tries: 0 } }, steps: [{ count: tries }, { write: { file: "{id}.txt", text: one } }, { commit: One }, { write: { file: left.txt, text: left } }, { think: 10m }] }
    - { when: { prompt: Clean, counter: { tries: 0 } }, steps: [{ count: tries }, { write: { file: "{id}.txt", text: one } }, { commit: One }, { think: 10m }] }
    - { when: { prompt: Hung, counter: { tries: 0 } }, steps: [{ count: tries }, { write: { file: "{id}.txt", text: one } }, { commit: One }, { sleep: 10m }] }
    - { when: { prompt: Taken, counter: { tries: 0 } }, steps: [{ count: tries }, { error: { kind: session-in-use, message: It is in use. } }] }
    - { when: { prompt: Ends }, steps: [{ write: { file: "{id}.txt", text: one } }, { commit: One }, { run: [sh, ${waits}, dead] }, marker] }
    - { when: { prompt: Steps, turn: 1 }, steps: [{ write: { file: "{id}.txt", text: one } }, { commit: One }, { run: [sh, ${waits}, dead] }] }
    - { when: { prompt: Lives }, steps: [{ write: { file: "{id}.txt", text: one } }, { commit: One }, { run: [sh, ${waits}, alive] }, marker] }
    - { steps: [{ append: { file: "{id}.txt", text: more } }, { commit: More }, marker] }
`;
const tickets = ["Gone", "Dirty", "Clean", "Hung", "Taken", "Ends", "Steps", "Lives"];

test("whatever happened to agents and their folders while no daemon ran, their tickets are done once, and nothing is lost", {
  timeout: 240_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-recovery-"));
  onTestFinished(() => removeFolder(folder));
  const waits = join(folder, "wait.sh");
  writeFileSync(waits, `until test -e "$(dirname "$0")/$1"; do sleep 0.1; done\n`);
  const crew = openCrew(script(waits), { quick });
  onTestFinished(crew.close);
  for (const title of tickets) crew.writeTicket(title.toLowerCase(), `${title} cup`);
  await crew.start();
  await crew.begin(tickets.length, "quick");
  const tasks = async () =>
    new Map((await crew.ask(routes.listTasks, { query: {} })).tasks.map((task) => [task.ticket, task]));
  const commits = (branch: string) => Number(crew.git("rev-list", "--count", `main..${branch}`));
  await expect
    .poll(
      async () =>
        [...(await tasks()).values()].filter(({ ticket, branch }) => ticket === "taken" || commits(branch) > 0).length,
      {
        ...{ timeout: 60_000, interval: 50 },
      },
    )
    .toBe(tickets.length);
  const before = await tasks();
  const endAgent = (ticket: string) => {
    for (const pid of agentsOf(ticket)) process.kill(pid, "SIGKILL");
  };
  const agentsOf = (ticket: string) => processesWith([`SIGNALBOX_TASK=${before.get(ticket)?.id}`]);

  const found = (ticket: string) =>
    crew
      .said()
      .split("\n")
      .find((line) => line.includes("An agent was found") && line.includes(before.get(ticket)?.id ?? ""));

  await crew.kill();
  for (const ticket of ["gone", "dirty", "clean"]) endAgent(ticket);
  writeFileSync(join(folder, "dead"), "");
  rmSync(before.get("gone")?.workspace ?? "", { recursive: true });
  for (const ticket of ["ends", "steps"]) await until(() => agentsOf(ticket).length === 0);
  await crew.start();

  // The test deleted the folder: the invariants hold again once the daemon has noticed.
  await expect.poll(() => invariantProblems(crew), { timeout: 30_000, interval: 50 }).toEqual([]);
  await expect.poll(() => found("lives"), { timeout: 30_000 }).toMatch(/recorded=working .*session=running .*act=none/);
  writeFileSync(join(folder, "alive"), "");
  const left = () => tickets.filter((title) => !crew.isClosed(title.toLowerCase()));
  await expect.poll(left, { timeout: 120_000, interval: 50 }).toEqual([]);
  await expect
    .poll(async () => (await crew.ps()).map(({ status }) => status), { timeout: 60_000 })
    .toEqual(tickets.map(() => "idle"));
  expect(await invariantProblems(crew)).toEqual([]);
  const merged = crew.git(...mergedTickets, "main");
  expect(merged.split("\n").filter(Boolean).toSorted()).toEqual(tickets.map((title) => title.toLowerCase()).toSorted());
  const files = (ticket: string) => crew.git("show", `main:${before.get(ticket)?.id}.txt`);
  // Agents continue from commits, do not repeat answered prompts, and keep uncommitted files.
  expect(Object.fromEntries(tickets.map((title) => [title, files(title.toLowerCase())]))).toEqual({
    ...{ Gone: "onemore", Dirty: "onemore", Clean: "onemore", Hung: "onemore", Taken: "more" },
    ...{ Ends: "one", Steps: "onemore", Lives: "one" },
  });
  expect(crew.git("show", "main:left.txt")).toBe("left");
  // A missing folder is created again, by the agent's next attempt or by a new beginning of the task.
  expect(found("gone")).toMatch(/workspace=none .*act=begin-again|workspace=clean .*act=(go-on|none)/);
});
