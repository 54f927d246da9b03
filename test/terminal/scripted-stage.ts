import { createScriptedTerminal, type Input } from "../scripted-terminal.ts";
import type { TerminalStage } from "./stage.ts";

const bytes: Readonly<Record<string, string>> = { Enter: "\r", Escape: "\x1b", "C-u": "\x15", ";": ";" };

export async function createScriptedStage(): Promise<TerminalStage> {
  const terminal = createScriptedTerminal({ now: () => 1_700_000_000_000 });
  const orderOf: TerminalStage["orderOf"] = (order) => ({
    session: "s-1",
    title: "project/branch",
    window: "worker",
    folder: "/",
    argv: ["true"],
    cwd: "/",
    env: {},
    ...order,
  });
  return {
    terminal,
    orderOf,
    open: (order) => terminal.open(orderOf(order)),
    print: async (run, text) => terminal.print(run, text),
    call: async (run, title) => terminal.call(run, title),
    end: async (run, how) => terminal.end(run, how),
    received: async (run) => terminal.received(run).map(textOf).join(""),
    starts: async (run) => terminal.started.filter((each) => each.run === run).length,
    loseServer: async () => terminal.loseServer(),
    clear: async () => {},
  };
}

function textOf(input: Input): string {
  return input.kind === "paste" ? `<${input.text}>` : input.keys.map((key) => bytes[key] ?? key).join("");
}
