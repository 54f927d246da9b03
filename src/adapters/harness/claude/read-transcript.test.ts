import { expect, test } from "vitest";
import { createTranscriptReader } from "./reading.ts";

const usage = { input_tokens: 3, cache_creation_input_tokens: 4, cache_read_input_tokens: 5, output_tokens: 6 };
const line = (id: string, model = "claude-x") =>
  JSON.stringify({ type: "assistant", message: { id, model, content: [{ type: "text", text: "x" }], usage } });

test("the usage of an answer is reported once, although each part of it is a line", () => {
  const read = createTranscriptReader();
  const told = { model: "claude-x", inputTokens: 7, outputTokens: 6, cachedTokens: 5, cost: undefined };
  expect(read(line("m-1"))).toEqual([{ kind: "usage", usage: told }]);
  expect(read(line("m-1"))).toEqual([]);
  expect(read(line("m-2"))).toHaveLength(1);
});

test("synthetic answers are not counted, and other lines are ignored", () => {
  const read = createTranscriptReader();
  expect(read(line("m-1", "<synthetic>"))).toEqual([]);
  for (const other of ["", "{", '{"type":"user","message":{"content":"\\"assistant\\""}}', '"assistant"'])
    expect(read(other)).toEqual([]);
});
