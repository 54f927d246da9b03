import { readFileSync } from "node:fs";
import { request } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Places } from "../../src/home/places.ts";
import { eventually } from "../agents/stage.ts";
import { startCommands, withoutColours } from "./agent-stage.ts";
import { atTerminal } from "./at-terminal.ts";

vi.setConfig({ testTimeout: 240_000 });

const script = `roles:
  worker:
    - { when: { prompt: "Work on" }, steps: [{ say: "At your service." }] }
    - { when: { prompt: "for a moment" }, steps: [{ think: 1s }, { say: "That was all." }] }
    - { steps: [{ think: 600s }] }
`;

test("tasks and agents are shown live, and the terminal is restored", async () => {
  const { signalbox, atDesk, base, env, main, repository, follow, places } = await startCommands(script);
  const at = (columns: number, rows: number, ...words: readonly string[]) =>
    atTerminal([process.execPath, main, ...words], { base, env, folder: repository, columns, rows });
  const small = at(60, 12, "task", "list", "--watch");
  await small.shows(/^coffee {2}0 open · no agents at work\n\nNo task is open\.[\s\S]*signalbox task create/);
  const lines = follow(["status", "--watch"]);
  const large = at(110, 20, "status", "--watch");

  // Changes appear without a key press.
  const id = await atDesk("stronger");
  await large.shows(
    new RegExp(`All projects {2}1 open · 1 needs you[\\s\\S]*\\n! {2}${id} {2}desk {2,}About stronger +worker idle`),
  );
  expect(large.screen()).toMatch(new RegExp(`\\n {3}Go on → signalbox task \\w+ ${id}\\n`));
  // The live state of runs, which is not in the history, is streamed on request.
  const live = followLive(places, `/v1/stream?live=true&task=${id}`);
  const others = followLive(places, "/v1/stream?live=true&agent=judge");
  await live.isOpen;
  await signalbox(["task", "send", id, "Think for a moment", "--wait"]);
  await eventually(
    async () =>
      live
        .activities()
        .join(" ")
        .match(/busy.* idle$/) ?? undefined,
  );
  expect(live.last()).toMatchObject({ task: id, key: "worker#1", what: "That was all." });
  expect(others.activities()).toEqual([]);
  await signalbox(["task", "send", id, "Think about it", "--wait"]);
  await large.shows(/worker busy \d+s/);
  await small.shows(new RegExp(`\\n! {2}${id} {2}desk {2,}About stronger .*\\d+[sm]\\n`));
  // Nothing of the earlier screen is left, and nothing is scrolled away.
  expect(small.screen()).not.toContain("No task is open");
  expect(small.everything().split("\n").length).toBeLessThanOrEqual(12);
  small.tmux("resize-window", "-x", "100", "-y", "8");
  await small.shows(
    /^coffee.*\n\n {3}ID {5}STATUS {2}SUMMARY {50,}AGENT .*\n!.*\n.*\n+q leave.*signalbox task attach ID/,
  );

  small.press("q");
  await small.shows(/^it ended with 0\n(?=[\s\S]*^icanon)(?=[\s\S]*^echo)/m);
  expect(small.screen()).not.toContain("About stronger");
  await signalbox(["task", "cancel", id]);
  await large.shows(new RegExp(`0 open[\\s\\S]*\\n✗ {2}${id} {2}dropped`));
  large.press("C-c");
  await large.shows(/^it ended with 0\n(?=[\s\S]*^icanon)(?=[\s\S]*^echo)/m);

  // Without a terminal each change is a line.
  await eventually(async () => /dropped/.test(lines.said()) || undefined);
  expect(lines.said()).toBe(withoutColours(lines.said()));
  expect(lines.said()).toMatch(
    new RegExp(`^\\S+ \\S+ {2}${id} {2}coffee#1 {2}desk .*needs you: Go on → signalbox task`, "m"),
  );
  expect(await lines.interrupt()).toBe(0);
});

/** The live state of runs in the event stream. */
function followLive({ socket: socketPath, humanToken }: Places, path: string) {
  const runs: { activity: string }[] = [];
  let text = "";
  const opened = Promise.withResolvers<void>();
  const headers = { authorization: `Bearer ${readFileSync(humanToken, "utf8").trim()}` };
  const asking = request({ socketPath, path, headers }, (answer) => {
    answer.setEncoding("utf8").on("data", (chunk: string) => {
      opened.resolve();
      text += chunk;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const [, data] = /^event: live\ndata: (.*)$/m.exec(block) ?? [];
        if (data !== undefined) runs.push(JSON.parse(data));
      }
    });
  });
  asking.on("error", opened.reject).end();
  onTestFinished(() => void asking.destroy());
  return { isOpen: opened.promise, activities: () => runs.map(({ activity }) => activity), last: () => runs.at(-1) };
}
