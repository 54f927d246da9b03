import { readFileSync } from "node:fs";
import { join } from "node:path";
import { routes } from "../../src/api/routes.ts";
import { eventually, startStage } from "./stage.ts";

/** Sends messages of all sizes to one agent that is busy, idle or in a dialog, and returns what arrived. */
export async function sendMany(count: number) {
  const script = `roles:
  worker:
    - { when: { prompt: "(dialog)" }, steps: [{ ask: "May I?" }, { say: "So be it." }] }
    - { when: { prompt: "(busy)" }, steps: [{ think: 300ms }, { say: "Phew." }] }
    - { steps: [{ say: "Yes." }] }
`;
  const stage = await startStage({ script });
  const id = await stage.create("a cup");
  const run = await stage.untilRun(({ activity }) => activity === "idle");
  const sent = Array.from({ length: count }, (_, i) => textOf(i));
  const sending = (async () => {
    for (const text of sent) await stage.call(routes.sendMessage, { params: { task: id }, body: { text } });
  })();
  let answered = "";
  const messages = await eventually(
    async () => {
      const [now] = await stage.runs();
      // Plays a person who answers each dialog once.
      if (now?.activity === "asks" && now.since !== answered) stage.press(run, "y");
      if (now?.activity === "asks") answered = now.since;
      const { messages: all } = await stage.call(routes.listMessages, { params: { task: id } });
      const own = all.filter(({ from }) => from === "human");
      return own.length === count && own.every(({ state }) => state !== "waiting") ? own : undefined;
    },
    count * 5_000 + 60_000,
  );
  await sending;
  const lines = readFileSync(join(stage.places.runs, ".scripted", "sessions", `${run.session}.jsonl`), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { kind: string; text?: string });
  const texts = (kind: string) => lines.filter((line) => line.kind === kind).map(({ text = "" }) => text);
  const own = (text: string) => /^Message \d+/.test(text);
  return {
    sent: sent.map(plain),
    heard: texts("received").filter(own).map(plain),
    swallowed: texts("swallowed").filter(own),
    states: messages.map(({ state }) => state),
  };
}

/** From one line to 6 KB. */
function textOf(i: number): string {
  const kind = ["(busy)", "(plain)", "(plain)", "(dialog)", "(plain)"][i % 5];
  const length = [1, 3, 40, 120][i % 4] ?? 1;
  const lines = Array.from(
    { length },
    (_, line) => `line ${line} of message ${i}: mind the gap; $(echo no) #{pane_id}`,
  );
  return [`Message ${i} ${kind}`, ...lines].join("\n");
}

function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
