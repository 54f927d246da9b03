import { expect, test } from "vitest";
import { createTranscriptReader } from "./read-transcript.ts";

const usage = { input_tokens: 3, cache_creation_input_tokens: 4, cache_read_input_tokens: 5, output_tokens: 6 };
const line = (id: string, model = "claude-x") =>
  JSON.stringify({ type: "assistant", message: { id, model, content: [{ type: "text", text: "x" }], usage } });

test("the usage of an answer is told once, though each part of it is a line", () => {
  const read = createTranscriptReader();
  const told = { model: "claude-x", inputTokens: 7, outputTokens: 6, cachedTokens: 5, cost: undefined };
  expect(read(line("m-1"))).toEqual([{ kind: "usage", usage: told }]);
  expect(read(line("m-1"))).toEqual([]);
  expect(read(line("m-2"))).toHaveLength(1);
});

test("what no model has said is not counted, and anything else is passed over", () => {
  const read = createTranscriptReader();
  expect(read(line("m-1", "<synthetic>"))).toEqual([]);
  for (const other of ["", "{", '{"type":"user","message":{"content":"\\"assistant\\""}}', '"assistant"'])
    expect(read(other)).toEqual([]);
});
