import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import { Fault } from "../../fault.ts";
import type { LogLevel } from "../../ports/system.ts";
import { createStreamLog } from "./stream-log.ts";

const noon = new Date(2026, 6, 1, 12, 3, 11).getTime();

function stage(level: LogLevel = "debug") {
  const stream = new PassThrough();
  return { log: createStreamLog(stream, level, () => noon), read: () => String(stream.read() ?? "") };
}

test("a line has the time, the level, the message and the fields", () => {
  const { log, read } = stage();
  log.with({ task: "t1" }).info("Moved.", { to: "b", why: "it is done", n: 3, list: ["a b"], none: "" });
  log.error("Failed.");
  expect(read()).toBe(
    '12:03:11 info  Moved. task=t1 to=b why="it is done" n=3 list=["a b"] none=""\n12:03:11 error Failed.\n',
  );
});

test("lines below the level are not written, and the level can be changed", () => {
  const { log, read } = stage("error");
  log.warn("one");
  log.setLevel("warn");
  log.warn("two");
  expect(read()).toBe("12:03:11 warn  two\n");
});

test("an error is shown with message and code, and at level error with its stack", () => {
  const { log, read } = stage();
  const error = new Fault("store.disk", "It could not be saved.");
  log.warn("Later.", { error });
  expect(read()).toBe('12:03:11 warn  Later. error="It could not be saved." error.code=store.disk\n');
  log.error("Failed.", { error });
  expect(read()).toMatch(/^12:03:11 error Failed\. error=.*\n {4}at .*stream-log\.test\.ts.*\n/);
});

test("a message can neither control the terminal nor begin a new line", () => {
  const { log, read } = stage();
  log.info("a\u001b[2Jb\r\n12:00:00 error false \u009b1m \u202e\ufe01\u{e0100}", {
    "k\u0007": "v\u001b]0;x\u0007",
    o: { p: "\u009b" },
  });
  expect(read()).toBe(
    '12:03:11 info  a\\u001b[2Jb\\u000d\\n12:00:00 error false \\u009b1m \\u202e\\ufe01\\u{e0100} k\\u0007=v\\u001b]0;x\\u0007 o={"p":"\\u009b"}\n',
  );
});

test("secrets are removed from messages, fields and stacks", () => {
  const { log, read } = stage();
  const secret = "Zx9QpLm42v";
  log.error(`token=${secret}`, { apiKey: secret, text: `{"secret":"${secret}"}`, error: new Error(`sk-${secret}`) });
  const text = read();
  expect(text).toContain("token=… apiKey=…");
  expect(text).not.toContain(secret);
});

test("a stream that breaks or never drains loses lines, but does not end the process or fill the memory", async () => {
  const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error("EPIPE")) });
  const log = createStreamLog(broken, "info");
  log.info("one");
  log.info("two");
  await log.close();
  const stuck = new Writable({ write: () => {} });
  const other = createStreamLog(stuck, "info");
  for (let number = 0; number < 2_000; number++) other.info("x".repeat(2_000));
  expect(stuck.writableLength).toBeLessThan(1_100_000);
});
