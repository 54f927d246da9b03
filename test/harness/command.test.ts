import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { command } from "../../src/adapters/harness/command/command.ts";
import { spawnCommands } from "../../src/adapters/system.ts";
import type { HarnessDefinition } from "../../src/engine/harness-definition.ts";
import type { Harness } from "../../src/ports/harness.ts";
import { createScriptedStage, linesOf, runTurn } from "./scripted-stage.ts";
import { createTmux, until } from "./tmux.ts";

let stage: ReturnType<typeof createScriptedStage>;
beforeEach(() => {
  stage = createScriptedStage();
});
afterEach(() => stage.close());

const node = process.execPath;

/** A harness whose program is a few lines of JavaScript. */
function harnessOf(
  body: string,
  definition: Omit<HarnessDefinition, "turn"> & { turn?: object },
  args: readonly unknown[] = [],
): Harness {
  const file = join(stage.root, "program.mjs");
  writeFileSync(file, body);
  const turn = { argv: [node, file, ...args], ...definition.turn } as HarnessDefinition["turn"] & object;
  return command({ name: "mine", ...definition, turn }, { commands: spawnCommands, env: stage.env });
}

const told =
  'import { readFileSync } from "node:fs"; const input = readFileSync(0, "utf8"); const args = process.argv.slice(2);';
const echo = `${told} process.stdout.write(JSON.stringify({ args, input }));`;
const asJson = { output: "json", text: "input", answer: "args" } as const;

test("a prompt that is not an argument goes to standard input, and the whole output is the answer", async () => {
  const harness = harnessOf(`${told} process.stdout.write("\\x1b[1mHeard " + input + "\\x1b[0m\\n");`, {});
  const { text, answer, error } = await runTurn(harness, stage.orderFor({ prompt: "a\nb" }));
  expect({ text, answer, error }).toEqual({ text: "Heard a\nb", answer: undefined, error: undefined });
});

test("every value stays one argument, and none is executed", async () => {
  const harness = harnessOf(echo, { turn: asJson }, [
    "--ask={prompt}",
    "{task_file}",
    "{workspace}",
    "{cli}",
    "{{model}}",
  ]);
  const prompt = "$(touch x); `touch x` \"'\n{model} {prompt} %s * ~ \\ #(touch x)\0end";
  const { answer, text } = await runTurn(harness, stage.orderFor({ prompt, model: "big" }));
  const kept = prompt.replace("\0", "");
  expect(answer).toEqual([`--ask=${kept}`, stage.taskFile, stage.repository, "signalbox", "{model}"]);
  expect(text).toBe("");
  expect(existsSync(join(stage.repository, "x"))).toBe(false);
});

test("a group of arguments is omitted if a variable in it has no value", async () => {
  const harness = harnessOf(echo, { turn: asJson }, [["--model", "{model}"], ["--effort", "{effort}"], "-"]);
  const { answer } = await runTurn(harness, stage.orderFor({ model: "big" }));
  expect(answer).toEqual(["--model", "big", "-"]);
});

test("a session is resumed with the definition's arguments, and its id is read from the output", async () => {
  const harness = harnessOf(
    echo,
    {
      turn: { ...asJson, session: "args.0", resume: [node, join(stage.root, "program.mjs"), "again", "{session}"] },
    },
    ["first"],
  );
  const first = await runTurn(harness, stage.orderFor({}));
  expect(first.all).toEqual([{ kind: "session", id: "first", transcript: "" }]);
  const { answer } = await runTurn(harness, stage.orderFor({ session: { kind: "resume", id: "-x y" } }));
  expect(answer).toEqual(["again", "-x y"]);
});

test("instructions precede the prompt if the program has no separate argument for them", async () => {
  const before = harnessOf(echo, { turn: asJson });
  expect((await runTurn(before, stage.orderFor({ system: "Be kind.", prompt: "Go." }))).text).toBe("Be kind.\n\nGo.");
  const apart = harnessOf(echo, { turn: asJson }, ["{system}"]);
  const { text, answer } = await runTurn(apart, stage.orderFor({ system: "Be kind.", prompt: "Go." }));
  expect({ text, answer }).toEqual({ text: "Go.", answer: ["Be kind."] });
});

test("a schema is passed as a file in the run's folder", async () => {
  const harness = harnessOf(echo, { turn: asJson }, ["{schema_file}"]);
  expect(harness.can.schema).toBe(true);
  const { answer } = await runTurn(harness, stage.orderFor({ schema: { type: "object" } }));
  expect(JSON.parse(readFileSync((answer as readonly string[])[0] ?? "", "utf8"))).toEqual({ type: "object" });
});

test("the arguments for reduced permissions are added only with reduced permissions", async () => {
  const harness = harnessOf(echo, { turn: asJson, reduced: ["--read-only"] });
  expect(harness.can.reduced).toBe("enforced");
  expect((await runTurn(harness, stage.orderFor({}))).answer).toEqual([]);
  expect((await runTurn(harness, stage.orderFor({ permissions: "reduced" }))).answer).toEqual(["--read-only"]);
});

test("lines of JSON give messages, the session once, usage and the last text, whatever else is printed", async () => {
  const lines = [
    '{"id":"s-1","msg":{"text":"one"}}',
    "no JSON at all \\xff",
    '{"id":"s-1","use":{"in":3,"out":1}}',
    '{"id":"s-1","msg":{"text":"two"},"use":{"in":4,"out":-1,"usd":0.25}}',
  ];
  const harness = harnessOf(`process.stdout.write(${JSON.stringify(lines.join("\n"))});`, {
    turn: {
      output: "jsonl",
      text: "msg.text",
      session: "id",
      usage: { input: "use.in", output: "use.out", cost: "use.usd" },
    },
  });
  const { text, all, error } = await runTurn(harness, stage.orderFor({}));
  expect({ text, error }).toEqual({ text: "two", error: undefined });
  const usage = (inputTokens: number, outputTokens: number, cost: number | undefined) => ({
    kind: "usage",
    usage: { model: "", inputTokens, outputTokens, cachedTokens: 0, cost },
  });
  expect(all).toEqual([
    { kind: "session", id: "s-1", transcript: "" },
    { kind: "said", text: "one" },
    usage(3, 1, undefined),
    usage(4, 0, 0.25),
    { kind: "said", text: "two" },
  ]);
});

describe("an error is recognised", () => {
  const errors = { "rate-limit": "\\b429\\b", authentication: "not logged in" };
  test("by its exit code, with its last words, and with the kind that the definition gives them", async () => {
    const failing = (said: string) => harnessOf(`console.error(${JSON.stringify(said)}); process.exit(4);`, { errors });
    const { error } = await runTurn(failing("HTTP 429"), stage.orderFor({}));
    expect(error).toMatchObject({ kind: "rate-limit", message: "mine ended with exit code 4. It said last: HTTP 429" });
    expect((await runTurn(failing("who knows"), stage.orderFor({}))).error?.kind).toBe("other");
  });

  test("by a field of its JSON, although it ended with 0", async () => {
    const harness = harnessOf(`console.log('{"text":"","error":{"message":"You are not logged in"}}')`, {
      errors,
      turn: { output: "json", text: "text", error: "error.message" },
    });
    const { error } = await runTurn(harness, stage.orderFor({}));
    expect(error).toMatchObject({ kind: "authentication", message: "You are not logged in" });
  });

  test("if it should print JSON but prints something else", async () => {
    const harness = harnessOf('console.log("{ half")', { turn: { output: "json", text: "a" } });
    const { error } = await runTurn(harness, stage.orderFor({}));
    expect(error?.message).toBe("mine did not print a JSON document that can be read.");
  });

  test("if its JSON is nested too deep to be used", () => {
    const harness = harnessOf("", { turn: { output: "json", text: "text", answer: "answer" } });
    const reader = harness.readOutput({ run: "r", runFolder: "" });
    reader.push(Buffer.from(`{"text":"t","answer":${"[".repeat(200_000)}${"]".repeat(200_000)}}`));
    const { error } = reader.end({ kind: "ended", code: 0, signal: "", cause: "exit", reason: "", at: 0 }, "");
    expect(error?.message).toBe("mine did not print a JSON document that can be read.");
  });

  test("if a limit was exceeded, whatever the program said", () => {
    const end = { kind: "ended", code: undefined, signal: "SIGKILL", reason: "", at: 0 } as const;
    const harness = harnessOf("", { errors });
    const kindAfter = (cause: "time" | "start" | "output") =>
      harness.readOutput({ run: "r", runFolder: "" }).end({ ...end, cause }, "429").error?.kind;
    expect([kindAfter("time"), kindAfter("start")]).toEqual(["timeout", "start"]);
  });
});

test("a mode that the definition lacks is refused before anything is started", async () => {
  const harness = harnessOf(echo, { turn: asJson });
  expect(harness.can).toMatchObject({ session: false, turn: true, resume: false, acknowledges: "no", cost: false });
  await expect(harness.prepare(stage.orderFor({ mode: "session" }))).rejects.toThrow('has no "session" mode');
  const resumed = stage.orderFor({ session: { kind: "resume", id: "a" } });
  await expect(harness.prepare(resumed)).rejects.toThrow("cannot resume a session");
  const long = harnessOf(echo, { turn: asJson }, ["{prompt}"]);
  await expect(long.prepare(stage.orderFor({ prompt: "x".repeat(200_000) }))).rejects.toThrow("An argument would have");
});

test("the program is found on the PATH, with its version", async () => {
  const bin = join(stage.root, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "mine"), "#!/bin/sh\necho '  mine 4.2'\n", { mode: 0o755 });
  const of = (program: string) =>
    command(
      { name: "mine", turn: { argv: [program] }, version: [program, "--version"] },
      { commands: spawnCommands, env: stage.env },
    ).detect();
  expect(await of("mine")).toEqual({ found: true, path: join(bin, "mine"), version: "mine 4.2", hint: "" });
  expect(await of("not-there")).toMatchObject({ found: false, hint: 'Install "not-there", or put it on your PATH.' });
});

test("in a terminal the definition's expressions interpret the screen, and events are read from appended lines", async () => {
  const tmux = createTmux(stage.root);
  try {
    const body = `
      import { appendFileSync } from "node:fs";
      import { createInterface } from "node:readline";
      const tell = (event) => appendFileSync(process.env.SIGNALBOX_EVENTS, JSON.stringify(event) + "\\n");
      console.log("ready> ");
      createInterface({ input: process.stdin }).on("line", (text) => {
        tell({ kind: "prompted", text });
        console.log(text === "ask" ? "Really? (y/n)" : "working on it");
        tell({ kind: "idle", said: "" });
      });
    `;
    const file = join(stage.root, "tui.mjs");
    writeFileSync(file, body);
    const session = { argv: [node, file], ready: "^ready>", busy: "^working", asks: "\\(y/n\\)", events: true };
    const harness = command({ name: "mine", session }, { commands: spawnCommands, env: stage.env });
    expect(harness.can).toMatchObject({ session: true, turn: false, acknowledges: "hook" });
    const order = stage.orderFor({ mode: "session", prompt: "hello" });
    mkdirSync(order.runFolder);
    const launch = await harness.prepare(order);
    expect(launch.message).toBe("hello");
    expect(harness.readScreen("\n\n", "")).toBe("starting");
    tmux.open(launch, order.folder);
    const is = (wanted: string) => until(wanted, () => harness.readScreen(tmux.screen(), "") === wanted);
    await is("ready");
    tmux.paste(launch.message, "Enter");
    await is("busy");
    tmux.paste("ask", "Enter");
    await is("asks");
    const events = linesOf(join(order.runFolder, "events")).flatMap((line) => [...harness.readEvidence(line)]);
    expect(events.filter(({ kind }) => kind === "prompted")).toEqual([
      { kind: "prompted", text: "hello" },
      { kind: "prompted", text: "ask" },
    ]);
  } finally {
    tmux.close();
  }
});
