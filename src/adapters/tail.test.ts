import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { removeFolder } from "../../test/remove-folder.ts";
import type { Tail } from "../ports/tail.ts";
import { createTail } from "./tail.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-tail-"));
afterAll(() => removeFolder(folder));
let files = 0;
const newFile = () => join(folder, `${++files}.jsonl`);

async function textsOf(tail: Tail): Promise<readonly string[]> {
  return (await tail.read()).lines.map(({ text }) => text);
}

test("a missing file has no lines; once it exists its lines are read", async () => {
  const path = newFile();
  const tail = createTail(path);
  expect(await tail.read()).toEqual({ lines: [], position: { offset: 0, before: "" }, hasMore: false, isAnew: false });
  writeFileSync(path, "one\ntwo\n");
  expect(await textsOf(tail)).toEqual(["one", "two"]);
  expect(await textsOf(tail)).toEqual([]);
});

test("a line is read once it is complete, in whatever chunks it is written", async () => {
  const path = newFile();
  const tail = createTail(path);
  writeFileSync(path, "on");
  expect(await textsOf(tail)).toEqual([]);
  appendFileSync(path, "e\r\n\ntw");
  expect(await textsOf(tail)).toEqual(["one", ""]);
  appendFileSync(path, "o\n");
  expect(await textsOf(tail)).toEqual(["two"]);
});

test("another tail continues from a stored position, with the incomplete line", async () => {
  const path = newFile();
  writeFileSync(path, "one\ntwo\nthr");
  const { position } = await createTail(path).read();
  const stored = JSON.parse(JSON.stringify(position));
  appendFileSync(path, "ee\nfour\n");
  expect(await createTail(path, { position: stored }).read()).toMatchObject({
    lines: [{ text: "three" }, { text: "four" }],
    isAnew: false,
  });
});

test("a truncated file is read from its beginning", async () => {
  const path = newFile();
  writeFileSync(path, "one\ntwo\n");
  const tail = createTail(path);
  await tail.read();
  truncateSync(path, 4);
  expect(await tail.read()).toMatchObject({ lines: [{ text: "one" }], isAnew: true });
  truncateSync(path, 0);
  expect(await tail.read()).toMatchObject({ lines: [], isAnew: true, position: { offset: 0 } });
  appendFileSync(path, "three\n");
  expect(await tail.read()).toMatchObject({ lines: [{ text: "three" }], isAnew: false });
});

test("a rewritten file is noticed, even if it is longer now", async () => {
  const path = newFile();
  writeFileSync(path, "one\ntwo\n");
  const tail = createTail(path);
  const { position } = await tail.read();
  writeFileSync(path, "three\nfour\nfive\n");
  for (const each of [tail, createTail(path, { position })]) {
    const part = await each.read();
    expect(part).toMatchObject({ isAnew: true, lines: [{ text: "three" }, { text: "four" }, { text: "five" }] });
  }
});

test("a file that was replaced by a longer one with the same beginning continues", async () => {
  const path = newFile();
  writeFileSync(path, "one\ntwo\n");
  const tail = createTail(path);
  await tail.read();
  writeFileSync(`${path}.new`, "one\ntwo\nthree\n");
  renameSync(`${path}.new`, path);
  expect(await tail.read()).toMatchObject({ lines: [{ text: "three" }], isAnew: false });
  rmSync(path);
  expect(await textsOf(tail)).toEqual([]);
  writeFileSync(path, "four\n");
  expect(await tail.read()).toMatchObject({ lines: [{ text: "four" }], isAnew: true });
});

test("a line that is too long keeps its beginning, and the next line is complete", async () => {
  const path = newFile();
  const tail = createTail(path, { maxLine: 1_000 });
  writeFileSync(path, "x".repeat(10_000_000));
  for (let more = true; more; more = (await tail.read()).hasMore);
  appendFileSync(path, `${"x".repeat(10)}\nshort\n`);
  const { lines } = await tail.read();
  expect(lines).toEqual([
    { text: "x".repeat(1_000), isCut: true },
    { text: "short", isCut: false },
  ]);
});

test("invalid UTF-8 is replaced, and characters are not split", async () => {
  const path = newFile();
  const tail = createTail(path);
  const bytes = Buffer.from("ä😀");
  for (const byte of bytes) {
    appendFileSync(path, Buffer.of(byte));
    expect(await textsOf(tail)).toEqual([]);
  }
  appendFileSync(path, Buffer.from([0x0a, 0xff, 0x00, 0xc3, 0x0a]));
  expect(await textsOf(tail)).toEqual(["ä😀", "\ufffd\u0000\ufffd"]);
});

test("a large file is read in portions", async () => {
  const path = newFile();
  const count = 100_000;
  writeFileSync(path, Array.from({ length: count }, (_, i) => `${i} ${"x".repeat(100)}\n`).join(""));
  const tail = createTail(path);
  const first = await tail.read();
  expect(first.hasMore).toBe(true);
  let last = first;
  const numbers = first.lines.map(({ text }) => Number.parseInt(text, 10));
  while (last.hasMore) {
    last = await tail.read();
    for (const { text } of last.lines) numbers.push(Number.parseInt(text, 10));
  }
  expect(numbers).toEqual(Array.from({ length: count }, (_, i) => i));
});

test("only a plain file is read; anything else counts as missing, with the reason", async () => {
  const [pipe, link, locked] = [newFile(), newFile(), newFile()];
  execFileSync("mkfifo", [pipe]);
  symlinkSync("/dev/zero", link);
  writeFileSync(locked, "one\n", { mode: 0 });
  const others = [folder, pipe, link, "/dev/zero", ...(process.getuid?.() === 0 ? [] : [locked])];
  for (const path of others) {
    const part = await createTail(path).read();
    expect(part).toMatchObject({ lines: [], hasMore: false, trouble: expect.stringContaining(path) });
  }
});

test("a link to a plain file is read, but not in the place of our own file, which is read once it exists", async () => {
  const [path, link] = [newFile(), newFile()];
  writeFileSync(path, "one\n");
  symlinkSync(path, link);
  expect(await textsOf(createTail(link))).toEqual(["one"]);
  const own = createTail(link, { isOwn: true });
  expect(await own.read()).toMatchObject({ lines: [], trouble: `${link} is a link.` });
  rmSync(link);
  writeFileSync(link, "two\n");
  const part = await own.read();
  expect([part.lines[0]?.text, part.trouble]).toEqual(["two", undefined]);
});

test("however a file grows and however often the tail is replaced, every line is read once and in order", async () => {
  const piece = fc.string({ unit: fc.constantFrom("a", "b", "\n", "ä"), maxLength: 200 });
  const step = fc.record({ piece, isRead: fc.boolean(), isOther: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const path = newFile();
      let tail = createTail(path);
      let position = (await tail.read()).position;
      const read: string[] = [];
      for (const { piece, isRead, isOther } of steps) {
        appendFileSync(path, piece);
        if (isOther) tail = createTail(path, { position });
        if (!isRead) continue;
        const part = await tail.read();
        expect(part.isAnew).toBe(false);
        position = part.position;
        for (const { text } of part.lines) read.push(text);
      }
      for (const text of await textsOf(createTail(path, { position }))) read.push(text);
      expect(read).toEqual(
        steps
          .map((each) => each.piece)
          .join("")
          .split("\n")
          .slice(0, -1),
      );
    }),
    { numRuns: 200 },
  );
});
