import { expect, test, vi } from "vitest";
import { startCommands } from "./agent-stage.ts";
import { atTerminal } from "./at-terminal.ts";

vi.setConfig({ testTimeout: 240_000 });

const talk = `name: flow
version: 1
roles:
  host: { mode: dialogue, harness: task, permissions: reduced, result: order, until: { clear: true }, confirm: true }
schemas:
  order: { type: object, required: [clear, message], properties: { clear: { type: boolean }, message: { type: string } } }
states:
  todo: { waits_for: slot, next: asking }
  asking: { agent: { role: host, prompt: ask }, outcomes: [{ on: failed, then: spilt }], next: clear }
  clear: { terminal: true }
  spilt: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: asking, hooks: [acquire_workspace] }
  - { from: any, to: spilt, by: human, hooks: [kill_session] }
prompts:
  ask: "What is {summary}? So far: {log}"
`;

const script = `roles:
  host:
    - { when: { prompt: with milk }, steps: [{ answer: { clear: true, message: "A coffee, with milk." } }] }
    - { steps: [{ answer: { clear: false, message: "Milk, or none?" } }] }
`;

test("a conversation shows what is asked, sends the answers, and goes on after it was left", async () => {
  const { signalbox, json, base, env, main, repository, until } = await startCommands(script, { flow: talk });
  const create = async (branch: string) => {
    const { task } = await json("task", "create", branch, `A ${branch}`, "--workflow", "flow");
    await until(task.id, ({ needsPerson }) => needsPerson);
    return task.id as string;
  };
  const [one, two] = [await create("coffee"), await create("tea")];
  const { questions } = await json("chat");
  expect(questions.map(({ task, text }: { task: string; text: string }) => [task, text])).toEqual([
    [one, "Milk, or none?"],
    [two, "Milk, or none?"],
  ]);
  // In a pipe one answer is read from stdin.
  expect(await signalbox(["chat"], "with milk")).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining(`signalbox chat ${two}`) },
  });
  expect(await signalbox(["chat", two])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nothing was sent"),
  });
  expect(await signalbox(["chat", two], "with milk\n")).toMatchObject({
    ...{ code: 0, stdout: expect.stringContaining("Milk, or none?") },
  });
  const second = questions[1].id as string;
  const late = await signalbox(["task", "reply", two, "black", "--question", second]);
  expect(late).toMatchObject({
    ...{ code: 1, stderr: expect.stringMatching(/was answered by a person at .*: "with milk"/) },
  });

  const sit = (...words: readonly string[]) =>
    atTerminal([process.execPath, main, "chat", ...words], { base, env, folder: repository });
  const first = sit();
  await first.shows(/Milk, or none\?[\s\S]*Type your answer, or \/help\.\n>/);
  first.say("/tea");
  await first.shows(/There is no command \/tea\./);
  first.say("/skip");
  await first.shows(/yes confirms; anything else goes back to the agent\n>/);
  first.press("C-c");
  await first.shows(/it ended with 0/);

  const talking = sit(one);
  await talking.shows(/host asks/);
  // Pasted lines are one answer.
  talking.tmux("set-buffer", "No sugar,\nand with milk");
  talking.tmux("paste-buffer");
  talking.press("Enter");
  await talking.shows(/Your answer was sent\.[\s\S]*A coffee, with milk\.\n {2}yes confirms/);
  // Another answer to the open question comes first.
  await signalbox(["task", "reply", one, "with milk and honey"]);
  await talking.shows(/The question is not open any more\.[\s\S]*you\n {2}with milk and honey[\s\S]*yes confirms/);
  talking.say("yes");
  await talking.shows(/The task has ended in clear\.[\s\S]*it ended with 0/);

  const cancelling = sit(two);
  await cancelling.shows(/host\n {2}Milk, or none\?\nyou\n {2}with milk\nhost asks/);
  cancelling.say("/cancel");
  await cancelling.shows(/Cancel \S+#2 A tea\? It is in asking\. No agent is at work\. \[y\/N\]/);
  cancelling.say("y");
  await cancelling.shows(/asking → spilt[\s\S]*it ended with 0/);
});
