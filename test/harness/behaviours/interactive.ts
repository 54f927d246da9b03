import { type LiveSession, openSession } from "../session.ts";
import { cliCall, expect, type Stage, until } from "../stage.ts";

export function start(stage: Stage): Promise<void> {
  stage.candidate.provoke?.(stage.folder);
  stage.server.add({ say: "I am here." });
  return withSession(stage, "Are you there, prompt-1?", async (session) => {
    await arrived(stage, session, "prompt-1");
    await until(`a screen that is ready, not:\n${session.screen()}`, () => session.state() === "ready");
    expect(session.screen().includes("I am here."), () => session.screen());
  });
}

/** Messages from one line to 6 KB, while the agent is idle and while it is busy. */
export function deliver(stage: Stage): Promise<void> {
  const long = Array.from({ length: 60 }, (_, line) =>
    `Line ${line} of a long message about coffee, with "quotes", $(x) and \`ticks\`.`.padEnd(100, "."),
  );
  const texts = [
    "message-a: hello",
    `message-b\n${long.join("\n")}`,
    "message-c: while it is busy",
    "message-d: the last",
  ];
  stage.server.add({ say: "Ready." }, { say: "A." }, { say: "B.", delay: 4000 });
  return withSession(stage, "Wait for messages, prompt-1.", async (session) => {
    await arrived(stage, session, "prompt-1");
    for (const text of texts) {
      await session.deliver(text);
      await acknowledged(stage, session, text);
    }
    for (const text of texts) await arrived(stage, session, text.slice(0, 9));
    await until("an end of its work", () => session.state() === "ready");
    const twice = texts.filter((text) => stage.server.arrivals(text.slice(0, 9)) !== 1);
    expect(twice.length === 0, () => `not exactly once: ${twice.map((text) => text.slice(0, 9))}`);
  });
}

export function callsCli(stage: Stage): Promise<void> {
  stage.server.add(
    { calls: [stage.candidate.shell("signalbox task update --status reviewing")] },
    { say: "It is moved." },
  );
  return withSession(stage, "Move the task, prompt-1.", async (session) => {
    await until(`a call of our command line; the screen is:\n${session.screen()}`, () =>
      stage.cliCalls().includes(cliCall),
    );
    await until("an end of its work", () => session.state() === "ready");
  });
}

async function withSession(stage: Stage, prompt: string, act: (session: LiveSession) => Promise<void>): Promise<void> {
  const session = await openSession(stage, { prompt });
  try {
    await act(session);
  } catch (error) {
    throw new Error(`${(error as Error).message}\nThe screen:\n${session.screen().trimEnd()}`);
  } finally {
    await session.close();
  }
}

/** Whether the harness's own evidence shows that a message is in the conversation. */
async function acknowledged(stage: Stage, session: LiveSession, text: string): Promise<void> {
  if (stage.harness.can.acknowledges === "no") return;
  let pressed = Date.now();
  await until(`an acknowledgement of ${text.slice(0, 9)}`, async () => {
    const events = await session.events();
    if (events.some((event) => event.kind === "prompted" && event.text.includes(text.slice(0, 9)))) return true;
    if (Date.now() - pressed > submitAgain && ["ready", "busy"].includes(session.state())) {
      session.submit();
      pressed = Date.now();
    }
    return undefined;
  });
}

const submitAgain = 5000;

async function arrived(stage: Stage, session: LiveSession, text: string): Promise<void> {
  await until(`${text} at the model; the screen is:\n${session.screen()}`, () => stage.server.arrivals(text) > 0);
}
