import type { CorePorts } from "../../src/daemon/core-ports.ts";
import type { Perform } from "../../src/daemon/perform.ts";
import type { Submit } from "../../src/daemon/submit.ts";
import type { PartialConfig } from "../../src/home/config-fields.ts";
import type { Harness, HarnessEvent } from "../../src/ports/harness.ts";
import type { Store } from "../../src/ports/store.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import type { ScriptedClock } from "../scripted-ports.ts";
import { createScriptedProcesses, type ScriptedStep } from "../scripted-processes.ts";
import { createScriptedTerminal, type ScriptedTerminal } from "../scripted-terminal.ts";
import { coreStage } from "./core-stage.ts";

/** A harness whose programs print their costs, one on each line, or that they are busy. */
export const meter = {
  ...{ name: "meter", title: "Meter", isScripted: true },
  can: { session: false, turn: true, resume: false, withholds: [], acknowledges: "stream" },
  detect: async () => ({ found: true, path: "/meter", version: "1", hint: "" }),
  prepare: async () => ({ argv: ["meter"], env: {}, input: "", message: "", session: "" }),
  readOutput: () => ({
    push: (chunk: Uint8Array): readonly HarnessEvent[] =>
      Buffer.from(chunk)
        .toString()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) =>
          line === "busy" ? { kind: "busy", what: "" } : { kind: "usage", usage: usageOf(Number(line)) },
        ),
    end: () => ({ text: "", answer: undefined, error: undefined, events: [] }),
  }),
  readEvidence: () => [],
  readTranscript: () => [],
  transcriptOf: async () => "",
  readScreen: () => "unknown",
} as unknown as Harness;

function usageOf(cost: number) {
  return { model: "", inputTokens: 1, outputTokens: 1, cachedTokens: 0, cost };
}

const table = {
  identify: async () => undefined,
  isAlive: async () => false,
  familyOf: async () => [],
  bearersOf: async () => [],
  cpuTime: async () => 0,
};

/** A core whose agents are programs without a terminal that do what `play` says. */
export async function agentStage(
  text: string,
  play: () => readonly ScriptedStep[],
  store: Store = createMemoryStore(),
  values: PartialConfig = {},
) {
  /** `trouble`: why no run's events can be read. */
  const time = { skew: 0, trouble: "" };
  const known = new Map([[meter.name, meter]]);
  const made: { processes?: ReturnType<typeof createScriptedProcesses>; terminal?: ScriptedTerminal } = {};
  const more = (clock: ScriptedClock, submit: Submit): Partial<CorePorts> => {
    const scripted = createScriptedProcesses({ clock, play });
    const processes = {
      ...scripted,
      // The end of a program is visible before its caller knows that all of its descendants have ended.
      async kill(id: string) {
        await scripted.kill(id);
        await new Promise<void>((resolve) => clock.after(3_000, resolve));
      },
    };
    const tails = {
      open: () => ({
        read: async () => ({
          ...{ lines: [], position: { offset: 0, before: "" }, hasMore: false, isAnew: false },
          ...(time.trouble === "" ? {} : { trouble: time.trouble }),
        }),
      }),
      watch: () => () => {},
    };
    const terminal = createScriptedTerminal(clock);
    Object.assign(made, { processes, terminal });
    return {
      clock: { now: () => clock.now() + time.skew, after: clock.after },
      performers: () => ({ acquire_workspace: lendFolder(store, submit) }),
      config: () => ({ values, problems: [] }),
      agents: { env: {}, table, tails, harnesses: () => known, terminal, processes },
    };
  };
  const stage = await coreStage(text, 1, store, more);
  /** Advances the clock until a condition holds. Writing real files takes real time as well. */
  const until = async (isSo: () => Promise<unknown>) => {
    for (let i = 0; i < 3_000; i++) {
      if (await isSo()) return;
      await stage.clock.pass(500);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    throw new Error(`It did not come to that: ${JSON.stringify((await store.getTask("t1"))?.task)}`);
  };
  const hasStarted = () => until(async () => stage.core.agents?.watches()[0]);
  const isIn = (status: string) => until(async () => (await store.getTask("t1"))?.task.status === status);
  return {
    ...stage,
    until,
    hasStarted,
    isIn,
    time,
    known,
    processes: made.processes as ReturnType<typeof createScriptedProcesses>,
    terminal: made.terminal as ScriptedTerminal,
  };
}

/** Gives a task a folder that does not exist: these agents are simulated. */
function lendFolder(store: Store, submit: Submit): Perform {
  return async (_, { task: { id, project } }) => {
    const path = `/workspaces/${id}`;
    await store.workspaces.put({ id: path, project, task: id, at: 0, path, kind: "folder" });
    await submit(id, { kind: "edit", actor: { role: "engine" }, set: { workspace: path } });
  };
}
