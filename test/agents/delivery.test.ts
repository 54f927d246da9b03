import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { sendMany } from "./send-many.ts";
import { eventually, startStage } from "./stage.ts";

test("every message reaches an agent once and in order, whether it is busy, idle or in a dialog", async () => {
  const { sent, heard, swallowed, states } = await sendMany(25);
  expect(heard).toEqual(sent);
  expect(swallowed).toEqual([]);
  expect(new Set(states)).toEqual(new Set(["delivered"]));
});

test("a message that waits for a dialog is delivered when a person has answered the dialog", async () => {
  const script = `roles:
  worker:
    - { when: { turn: 1 }, steps: [{ ask: "May I push?" }, { say: "Decided." }] }
    - { steps: [{ say: "Heard." }] }
`;
  const stage = await startStage({ script });
  const id = await stage.create("a cup");
  const run = await stage.untilRun(({ activity }) => activity === "asks");
  await stage.call(routes.sendMessage, { params: { task: id }, body: { text: "Mind the step." } });
  await eventually(async () => ((await stage.types(id)).includes("agent.raised") ? true : undefined));
  const [message] = (await stage.call(routes.listMessages, { params: { task: id } })).messages;
  expect(message?.state).toBe("waiting");
  stage.press(run, "n");
  await eventually(async () => {
    const { messages } = await stage.call(routes.listMessages, { params: { task: id } });
    return messages.find(({ text }) => text === "Mind the step.")?.state === "delivered" ? true : undefined;
  });
  const said = readFileSync(join(stage.places.runs, ".scripted", "sessions", `${run.session}.jsonl`), "utf8");
  expect(said).not.toContain('"swallowed"');
});

test("a message that was typed before the daemon died is not typed again", async () => {
  const script = `roles: { worker: [{ steps: [{ say: "Yes." }] }] }`;
  const stage = await startStage({ script });
  const id = await stage.create("a cup");
  const run = await stage.untilRun(({ activity }) => activity === "idle");
  const tell = async () =>
    JSON.stringify([
      await stage.runs(true),
      (await stage.events(id)).slice(-12),
      (await stage.call(routes.listMessages, { params: { task: id } })).messages,
      stage.daemon().said(),
    ]);
  for (let i = 0; i < 5; i++) {
    await stage.call(routes.sendMessage, { params: { task: id }, body: { text: `Message number ${i}, please.` } });
    await new Promise((resolve) => setTimeout(resolve, i * 60));
    await stage.killDaemon();
    await stage.restart();
    await eventually(
      async () => {
        const { messages } = await stage.call(routes.listMessages, { params: { task: id } });
        return messages.find(({ text }) => text.includes(`number ${i},`))?.state === "delivered" ? true : undefined;
      },
      120_000,
      tell,
    );
  }
  const heard = readFileSync(join(stage.runFolder(id, run.key), "events"), "utf8")
    .split("\n")
    .filter((line) => line.includes('"prompted"') && line.includes("Message number"))
    .map((line) => (JSON.parse(line) as { readonly text: string }).text);
  expect(heard).toEqual(Array.from({ length: 5 }, (_, i) => `Message number ${i}, please.`));
});

test("a change that a person requests while the workspace is deleted reaches the worker in the next workspace", async () => {
  const stage = await startStage();
  const id = await stage.create("a cup");
  const params = { task: id };
  await eventually(async () => ((await stage.task(id)).status === "reviewing" ? true : undefined), 120_000);
  const { workspace } = await stage.task(id);
  rmSync(workspace, { recursive: true });
  await stage.call(routes.requestChanges, { params, body: { text: "A larger cup" } });
  await eventually(async () => ((await stage.types(id)).includes("message.sent") ? true : undefined));
  const failed = (await stage.events(id)).filter(({ type }) => type === "effect.failed");
  expect(failed).toEqual([]);
  await stage.call(routes.respawnTask, { params, body: {} });
  // The request is in its prompt or in its session, depending on whether the first worker still received it.
  const prompts = () =>
    readdirSync(stage.places.runs, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith("harness.json"))
      .map((name) => readFileSync(join(stage.places.runs, name), "utf8"));
  await eventually(async () => prompts().find((text) => text.includes("## Review and ## Feedback in TASK.md")));
  const messages = async () => (await stage.call(routes.listMessages, { params })).messages;
  await eventually(
    async () =>
      (await messages()).some(({ text, state }) => /feedback/i.test(text) && ["delivered", "typed"].includes(state))
        ? true
        : undefined,
    30_000,
    async () => JSON.stringify(await messages()),
  );
});
