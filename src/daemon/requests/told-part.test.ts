import { describe, expect, test } from "vitest";
import { readOutput } from "../../adapters/harness/claude/reading.ts";
import { readTurn } from "../../adapters/harness/gemini/reading.ts";
import type { OutputReader } from "../../ports/harness.ts";
import { toldPart } from "./see-agent.ts";

const readerOf = (bytes: Uint8Array) => async (from: number, limit: number) => bytes.subarray(from, from + limit);

/** All text shown for an output, read in parts as a following client does: each part with a new reader. */
async function follow(printed: string, most: number, create: () => OutputReader, isOver = true): Promise<string> {
  const read = readerOf(new TextEncoder().encode(printed));
  let told = "";
  for (let from = 0; ; ) {
    const { text, next } = await toldPart(read, create(), { from, most, isOver });
    told += text;
    if (next === from) return told;
    from = next;
  }
}

const claude = () => readOutput(() => 0);
const said = (text: string) =>
  JSON.stringify({ type: "assistant", message: { id: "m", model: "x", content: [{ type: "text", text }] } });
const used = (name: string) =>
  JSON.stringify({
    type: "assistant",
    message: { id: "m", model: "x", content: [{ type: "tool_use", id: "t", name }] },
  });
const result = JSON.stringify({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t" }] } });

describe("the output of an agent, for people", () => {
  const printed = [said("Grüße"), used("Bash"), result, "warning: no beans", said("All done.\n\nDONE")].join("\n");

  test.each([1, 7, 300, 100_000])("does not depend on the size of the parts (%i)", async (most) => {
    const whole = "Grüße\n· Bash\nwarning: no beans\nAll done.\n\nDONE\n";
    expect(await follow(`${printed}\n`, most, claude)).toBe(whole);
    // An agent that was ended in the middle of a line may have said something with it.
    expect(await follow(printed, most, claude)).toBe(whole);
    expect(await follow(printed, most, claude, false)).toBe(whole.replace("All done.\n\nDONE\n", ""));
  });

  test("contains a message as one line even if the harness printed it word by word", async () => {
    const word = (content: string) => JSON.stringify({ type: "message", role: "assistant", content, delta: true });
    const lines = [word("One "), word("two "), word("three."), JSON.stringify({ type: "result", status: "success" })];
    for (const most of [1, 40, 100_000])
      expect(await follow(`${lines.join("\n")}\n`, most, readTurn)).toBe("One two three.\n");
  });

  test("ends with the failure, once", async () => {
    const end = { kind: "ended", code: 1, signal: "", cause: "exit", reason: "", at: 0 } as const;
    const asked = { most: 100_000, isOver: true, ending: { end, errors: "No beans.\n" } };
    const read = readerOf(new TextEncoder().encode(`${said("Grinding")}\n`));
    const first = await toldPart(read, claude(), { from: 0, ...asked });
    expect(first.text).toBe("Grinding\n! No beans.\n");
    expect(await toldPart(read, claude(), { from: first.next, ...asked })).toEqual({ text: "", next: first.next });
  });

  test("contains lines that are not JSON unchanged", async () => {
    const text = 'Grinding\n\n{ "beans":\n  12 }\n';
    expect(await follow(text, 5, claude)).toBe(text);
  });
});
