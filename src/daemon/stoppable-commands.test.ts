import { expect, test } from "vitest";
import type { Command, Commands } from "../ports/commands.ts";
import { stoppableCommands } from "./stoppable-commands.ts";

/** Commands that go on until they are told to end. */
function stage() {
  const started: string[] = [];
  const endless: Commands = {
    run: ({ argv, signal }) =>
      new Promise((_, reject) => {
        started.push(argv.join(" "));
        signal?.addEventListener("abort", () => reject(new Error(`${argv.join(" ")} was killed`)));
      }),
  };
  const commands = stoppableCommands(endless);
  const ends: string[] = [];
  const run = async (task: string, name: string, more: Partial<Command> = {}) => {
    const command = { argv: [name], env: { SIGNALBOX_TASK: task }, ...more } as Command;
    commands.run(command).catch((error) => ends.push(error.code ?? error.message));
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { commands, started, ends, run };
}

test("to stop a task kills its commands, and nobody else's", async () => {
  const { commands, ends, run } = stage();
  await run("t1", "make");
  await run("t1", "lint");
  await run("t2", "test");
  commands.stop("t1");
  await new Promise((resolve) => setImmediate(resolve));
  expect(ends).toEqual(["make was killed", "lint was killed"]);
});

test("a task that is stopped starts no command until everybody who stopped it has let go, each once", async () => {
  const { commands, started, ends, run } = stage();
  const [first, second] = [commands.stop("t1"), commands.stop("t1")];
  await run("t1", "make");
  first();
  first();
  await run("t1", "make");
  expect([started, ends]).toEqual([[], ["command.stopped", "command.stopped"]]);
  await run("t2", "test");
  second();
  await run("t1", "make");
  expect(started).toEqual(["test", "make"]);
});

test("a command still ends when its own caller ends it", async () => {
  const { ends, run } = stage();
  const own = new AbortController();
  await run("t1", "make", { signal: own.signal });
  own.abort();
  await new Promise((resolve) => setImmediate(resolve));
  expect(ends).toEqual(["make was killed"]);
});
