import { readEventLine } from "../../adapters/harness/event-line.ts";
import { readScriptedOutput } from "../../adapters/harness/scripted/read-scripted-output.ts";
import { scriptedCapabilities } from "../../adapters/harness/scripted/scripted.ts";
import type { Harness, HarnessOrder, ScreenState } from "../../ports/harness.ts";

const screens: readonly ScreenState[] = ["starting", "ready", "busy", "asks"];

/** The harness of simulated agents. `prepared` is told of every run before it is started. */
export function simulatedHarness(prepared: (order: HarnessOrder) => void): Harness {
  return {
    name: "simulated",
    title: "Simulated agent",
    can: { ...scriptedCapabilities, cost: false, tokens: false },
    isScripted: true,
    detect: async () => ({ found: true, path: "/agent", version: "1", hint: "" }),
    async prepare(order) {
      prepared(order);
      return { argv: ["/agent"], env: order.env, input: "", message: "", session: order.session.id };
    },
    readOutput: readScriptedOutput,
    readEvidence: (line) => {
      const event = readEventLine(line);
      return event === undefined ? [] : [event];
    },
    readTranscript: () => [],
    transcriptOf: async () => "",
    readScreen: (screen) => screens.find((each) => screen.trim().startsWith(each)) ?? "unknown",
  };
}
