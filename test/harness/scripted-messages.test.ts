import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createScriptedStage, readJsonLines } from "./scripted-stage.ts";
import { createTmux, until } from "./tmux.ts";

let stage: ReturnType<typeof createScriptedStage>;
let tmux: ReturnType<typeof createTmux>;
beforeEach(() => {
  stage = createScriptedStage();
  tmux = createTmux(stage.root);
});
afterEach(() => {
  tmux.close();
  stage.close();
});

const script = `
roles:
  any:
    - when: { prompt: is it allowed }
      steps: [{ ask: Something }, { say: Decided. }]
    - when: { prompt: take your time }
      steps: [{ think: 2s }, { say: Slow. }]
    - steps: [{ say: Quick. }]
`;

test("of 100 messages to an agent that is busy, idle or in a dialog, each arrives once and in order", async () => {
  const harness = stage.harnessFor(script);
  const order = stage.orderFor({ mode: "session", prompt: "" });
  tmux.open(await harness.prepare(order), order.folder);
  const transcript = () => stage.transcript(order.session.id);
  const texts = (kind: string) => transcript().flatMap((line) => (line.kind === kind ? [line.text] : []));
  const isAsking = () => harness.readScreen(tmux.screen(), tmux.title()) === "asks";
  await until("it is ready", () => harness.readScreen(tmux.screen(), tmux.title()) === "ready");

  const kinds = ["", "take your time", "", "", "is it allowed"] as const;
  const lines = (number: number) =>
    Array.from({ length: number % 7 }, (_, line) => `\nline ${line} of ${number}`).join("");
  const messages = Array.from({ length: 100 }, (_, n) => `message ${n}: ${kinds[n % kinds.length]}${lines(n)}`);
  const lost: string[] = [];
  for (const [n, message] of messages.entries()) {
    tmux.paste(message, "Enter");
    if (kinds[n % kinds.length] !== "is it allowed") continue;
    await until("it asks", isAsking);
    // A message that is typed blindly into a dialog is lost, and the loss is recorded.
    lost.push(`lost ${n}`);
    tmux.paste(`lost ${n}`);
    tmux.press("n");
    await until("it was decided", () => texts("said").length === n + 1);
  }
  await until("all are heard", () => texts("heard").length >= messages.length);
  expect(texts("received")).toEqual(messages);
  expect(texts("heard")).toEqual(messages);
  expect(texts("swallowed")).toEqual(lost);
  const events = readJsonLines(join(order.runFolder, "events"));
  expect(events.flatMap(({ kind, text }) => (kind === "prompted" ? [text] : []))).toEqual(messages);
});
