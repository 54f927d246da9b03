import { describe, expect, test } from "vitest";
import type { Processes, ProcessOrder, ProcessState } from "../../src/ports/processes.ts";
import type { ScriptedStep } from "../scripted-processes.ts";

export interface ContractStage {
  readonly processes: Processes;
  /** The command of a program that takes these steps; undefined for a program that does not exist. */
  argv(steps: readonly ScriptedStep[] | undefined): readonly string[];
  /** Lets some time pass. */
  pass(): Promise<void>;
}

/** The contract of the port, for every implementation. */
export function processesContract(name: string, open: () => ContractStage): void {
  describe(name, () => {
    const set = () => {
      const { processes, argv, pass } = open();
      const start = (id: string, steps: readonly ScriptedStep[] | undefined, more: Partial<ProcessOrder> = {}) => {
        const limits = { timeLimit: 3_600_000, outputLimit: 1_000_000 };
        return processes.start({ id, argv: argv(steps), cwd: "/", env: {}, input: "", ...limits, ...more });
      };
      const until = async (holds: () => Promise<boolean> | boolean) => {
        while (!(await holds())) await pass();
      };
      const ended = async (id: string): Promise<ProcessState> => {
        await until(async () => (await processes.look(id)).kind !== "running");
        return processes.look(id);
      };
      const text = async (id: string, channel: "output" | "errors" = "output") =>
        Buffer.from(await processes.read(id, channel, 0, 10_000_000)).toString();
      return { processes, start, until, ended, text };
    };

    test("a program that ends by itself has its exit code and its output on both channels", async () => {
      const { start, ended, text } = set();
      await start("a", [{ print: "one\n" }, { print: "oh\n", on: "errors" }, { print: "two\n" }, { exit: 7 }]);
      expect(await ended("a")).toMatchObject({ kind: "ended", code: 7, signal: "", cause: "exit", reason: "" });
      expect([await text("a"), await text("a", "errors")]).toEqual(["one\ntwo\n", "oh\n"]);
    });

    test("a program that a signal ended has the signal and no exit code", async () => {
      const { start, ended } = set();
      await start("a", [{ signal: "SIGKILL" }]);
      expect(await ended("a")).toMatchObject({ kind: "ended", code: undefined, signal: "SIGKILL", cause: "exit" });
    });

    test("a program reads its input, or nothing if there is none", async () => {
      const { start, ended, text } = set();
      await start("a", [{ echo: true }, { print: "." }], { input: "ä\n" });
      await start("b", [{ echo: true }, { print: "." }]);
      await Promise.all([ended("a"), ended("b")]);
      expect([await text("a"), await text("b")]).toEqual(["ä\n.", "."]);
    });

    test("a started program keeps its identity, however often it is started again", async () => {
      const { processes, start } = set();
      const steps: ScriptedStep[] = [{ print: "x" }, { hang: true }];
      await Promise.all([start("a", steps), start("a", steps), start("a", steps)]);
      const first = await processes.look("a");
      expect(first).toMatchObject({ kind: "running" });
      await start("a", steps);
      expect(await processes.look("a")).toEqual(first);
      await processes.kill("a");
    });

    test("a program that has ended is not started again", async () => {
      const { processes, start, ended, text } = set();
      await start("a", [{ print: "x" }]);
      const end = await ended("a");
      await start("a", [{ print: "y" }]);
      expect(await processes.look("a")).toEqual(end);
      expect(await text("a")).toBe("x");
    });

    test("a run that was never started is absent, has no output and cannot be killed", async () => {
      const { processes, text } = set();
      await processes.kill("a");
      expect(await processes.look("a")).toEqual({ kind: "absent" });
      expect(await text("a")).toBe("");
    });

    test("a program that does not exist has ended with a failed start and a sentence", async () => {
      const { start, ended } = set();
      await start("a", undefined);
      const end = await ended("a");
      expect(end).toMatchObject({ kind: "ended", code: undefined, signal: "", cause: "start" });
      expect(end).toHaveProperty("reason", expect.stringContaining("no such program"));
    });

    test("a killed program that handles SIGTERM ends by itself", async () => {
      const { processes, start, until, text } = set();
      await start("a", [{ print: "." }, { hang: true }]);
      await until(async () => (await text("a")) === ".");
      await processes.kill("a");
      expect(await processes.look("a")).toMatchObject({ kind: "ended", signal: "SIGTERM", cause: "killed" });
    });

    test("a killed program that ignores SIGTERM gets SIGKILL", async () => {
      const { processes, start, until, text } = set();
      await start("a", [{ ignore: true }, { print: "." }, { hang: true }]);
      await until(async () => (await text("a")) === ".");
      await processes.kill("a");
      expect(await processes.look("a")).toMatchObject({ kind: "ended", signal: "SIGKILL", cause: "killed" });
    });

    test("killing a program that has ended does not change its recorded end", async () => {
      const { processes, start, ended } = set();
      await start("a", [{ exit: 3 }]);
      const end = await ended("a");
      await processes.kill("a");
      expect(await processes.look("a")).toEqual(end);
    });

    test("a program that exceeds its time limit is ended, even if it ignores SIGTERM", async () => {
      const { start, ended } = set();
      await start("a", [{ hang: true }], { timeLimit: 300 });
      await start("b", [{ ignore: true }, { hang: true }], { timeLimit: 1_000 });
      expect(await ended("a")).toMatchObject({ signal: "SIGTERM", cause: "time" });
      expect(await ended("b")).toMatchObject({ signal: "SIGKILL", cause: "time" });
    });

    test("a program that exceeds its output limit is ended, and only output up to the limit is kept", async () => {
      const { start, ended, text } = set();
      const steps: ScriptedStep[] = [
        { print: "x".repeat(800) },
        { print: "y".repeat(800), on: "errors" },
        { hang: true },
      ];
      await start("a", steps, { outputLimit: 1_000 });
      expect(await ended("a")).toMatchObject({ signal: "SIGKILL", cause: "output" });
      expect((await text("a")).length + (await text("a", "errors")).length).toBe(1_000);
    });

    test("output can be read from any position while the program prints", async () => {
      const { processes, start, until, text } = set();
      await start("a", [{ print: "0123456789" }, { hang: true }]);
      await until(async () => (await text("a")).length === 10);
      const part = async (from: number, limit: number) =>
        Buffer.from(await processes.read("a", "output", from, limit)).toString();
      expect([await part(3, 4), await part(8, 100), await part(10, 5), await part(99, 5)]).toEqual([
        "3456",
        "89",
        "",
        "",
      ]);
      await processes.kill("a");
    });

    test("a watcher is notified of output and of the end, until it stops watching", async () => {
      const { processes, start, until, ended } = set();
      const heard: string[] = [];
      const stop = processes.watch((id) => heard.push(id));
      await start("a", [{ wait: 100 }, { print: "x" }, { hang: true }]);
      const count = heard.length;
      await until(() => heard.length > count);
      await processes.kill("a");
      await until(() => heard.length > count + 1);
      stop();
      const before = heard.length;
      await start("b", [{ exit: 0 }]);
      await ended("b");
      expect(heard.length).toBe(before);
      expect(new Set(heard)).toEqual(new Set(["a"]));
    });

    test("an id that could escape from the folder is refused", async () => {
      const { processes, start } = set();
      for (const id of ["", "..", "a/b", "A", ".news", "a b", "a\n"]) {
        await expect(start(id, [])).rejects.toMatchObject({ code: "processes.bad-id" });
        await expect(processes.look(id)).rejects.toMatchObject({ code: "processes.bad-id" });
      }
    });
  });
}
