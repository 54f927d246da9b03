import { expect, test } from "vitest";
import { createKeyReader, type Input } from "./key-reader.ts";

const keys = (inputs: readonly Input[]) =>
  inputs.map((input) =>
    input.kind === "key" ? input.key : input.kind === "paste" ? `paste:${input.text}` : JSON.stringify(input),
  );

test("sequences are read whole, wherever they are split", () => {
  const bytes = Buffer.from(
    "a\u001b[Aé\u001b[200~pasted q\r\nx\u001b[201~\u001b[1;5C\u001bOHz\u001b[<64;3;4M\u001b]11;rgb:ffff/ffff/ffff\u0007\u001b[Z \r",
  );
  const wanted = ["a", "Up", "é", "paste:pasted q\nx", "Ctrl+Right", "Home", "z"];
  const rest = [
    '{"kind":"mouse","what":"wheel-up","x":2,"y":3}',
    '{"kind":"background","isLight":true}',
    "Backtab",
    "Space",
    "Enter",
  ];
  for (let split = 0; split <= bytes.length; split++) {
    const reader = createKeyReader();
    const inputs = [...reader.feed(bytes.subarray(0, split)), ...reader.feed(bytes.subarray(split))];
    expect([split, ...keys(inputs)]).toEqual([split, ...wanted, ...rest]);
  }
});

test("a lone ESC is the key Escape once nothing follows, and half a sequence is forgotten", () => {
  const reader = createKeyReader();
  expect(reader.feed(Buffer.from("\u001b"))).toEqual([]);
  expect(reader.isWaiting()).toBe(true);
  expect(keys(reader.flush())).toEqual(["Escape"]);
  reader.feed(Buffer.from("\u001b[1;"));
  expect(reader.flush()).toEqual([]);
  expect(keys(reader.feed(Buffer.from("q")))).toEqual(["q"]);
});

test("a megabyte that is pasted in small pieces is one paste", () => {
  const reader = createKeyReader();
  const text = "q".repeat(1_000_000);
  const bytes = Buffer.from(`\u001b[200~${text}\u001b[201~`);
  const inputs: Input[] = [];
  for (let at = 0; at < bytes.length; at += 4_096) inputs.push(...reader.feed(bytes.subarray(at, at + 4_096)));
  expect(inputs).toEqual([{ kind: "paste", text }]);
});

test("answers of the terminal that mean nothing here are no keys", () => {
  const reader = createKeyReader();
  expect(keys(reader.feed(Buffer.from("\u001b[?62;22c\u001bP1+r\u001b\\\u001b[5nj")))).toEqual(["j"]);
});
