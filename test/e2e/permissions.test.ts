import { expect, test, vi } from "vitest";
import { startCommands } from "./agent-stage.ts";
import { atTerminal } from "./at-terminal.ts";

vi.setConfig({ testTimeout: 240_000 });

const flow = `name: flow
version: 1
roles:
  teller: { mode: turn, prompt: tell }
states:
  todo: { waits_for: slot, next: telling }
  telling: { agent: { role: teller, prompt: tell }, outcomes: [{ then: told }] }
  told: { terminal: true }
transitions:
  - { from: todo, to: telling, hooks: [acquire_workspace] }
prompts: { tell: "Tell about {summary}." }
`;
// Every harness but the scripted agent needs full permissions.
const config = "harness: parrot\nworkflow: flow\nharnesses: { parrot: { title: The Parrot, turn: { argv: [cat] } } }\n";

test("agents have full permissions only after a person has allowed them for the project", async () => {
  const { signalbox, json, until, repository, base, env, main } = await startCommands("", { flow, config });
  await signalbox(["project", "update", "coffee", "--harness", "parrot", "--workflow", "flow"]);

  // Without a terminal to ask on, the task waits, and says for what.
  const created = await signalbox(["task", "create", "one", "The first"]);
  expect(created.code).toBe(0);
  const allow = "signalbox project update coffee --full-permissions allow";
  expect(created.stderr).toContain(allow);
  const id = created.stdout.split(" ")[0] ?? "";
  const { held } = await until(id, (task) => task.held !== null);
  expect(held?.reason).toMatch(/The Parrot would work with full permissions in coffee/);
  expect((await signalbox(["task", "explain", id])).stdout.replace(/\s+/g, " ")).toContain(allow);
  expect(await json("agent", "ps")).toMatchObject({ runs: [] });

  // Allowed for the project: the held task continues.
  expect(await signalbox(["project", "update", "coffee", "--full-permissions", "allow"])).toMatchObject({
    code: 0,
    stdout: "full-permissions: allow\n",
  });
  await until(id, ({ status }) => status === "told");
  expect(await json("project", "list")).toMatchObject({ projects: [{ fullPermissions: "allow" }] });

  // After it is revoked, a person at a terminal is asked. The default is no.
  await signalbox(["project", "update", "coffee", "--full-permissions", "ask"]);
  const person = { base, env, folder: repository };
  const create = (branch: string) =>
    atTerminal([process.execPath, main, "task", "create", branch, "Another cup"], person);
  const refusing = create("two");
  await refusing.shows(/work with full permissions in The Parrot \(teller\)[\s\S]*without asking[\s\S]*\[y\/N\]/);
  refusing.press("Enter");
  await refusing.shows(/No task was created\.[\s\S]*it ended with 1/);
  const leaving = create("two");
  await leaving.shows(/\[y\/N\]/);
  leaving.press("C-c");
  await leaving.shows(/it ended with 1/);
  expect(await json("task", "list", "--open", "--closed")).toMatchObject({ tasks: [{ id }] });
  expect(await json("project", "list")).toMatchObject({ projects: [{ fullPermissions: "ask" }] });

  const agreeing = create("two");
  await agreeing.shows(/\[y\/N\]/);
  agreeing.say("y");
  await agreeing.shows(/it ended with 0/);
  const second = (await json("task", "list", "--open", "--closed")).tasks[0];
  await until(second.id, ({ status }) => status === "told");
  // Asked once.
  const third = create("three");
  await third.shows(/it ended with 0/);
  expect(third.screen()).not.toContain("full permissions");
});

test("a flag allows them with the first task, and init asks", async () => {
  const { signalbox, json, until, base, env, main, repository } = await startCommands("", { flow, config });
  await signalbox(["project", "update", "coffee", "--harness", "parrot", "--workflow", "flow"]);
  const asked = atTerminal([process.execPath, main, "init"], { base, env, folder: repository });
  await asked.shows(/It is already a project[\s\S]*full permissions in The Parrot[\s\S]*\[y\/N\]/);
  asked.say("no");
  await asked.shows(/You are asked again[\s\S]*it ended with 0/);
  expect(await json("project", "list")).toMatchObject({ projects: [{ fullPermissions: "ask" }] });

  const { task, warnings } = await json("task", "create", "one", "The first", "--allow-full-permissions");
  expect(warnings).toEqual([]);
  await until(task.id, ({ status }) => status === "told");
  expect(await json("project", "list")).toMatchObject({ projects: [{ fullPermissions: "allow" }] });
});
